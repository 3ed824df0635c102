#pragma once

#include "aggregator/model_servers/counters.hpp"
#include "aggregator/model_servers/question.hpp"
#include "aggregator/model_servers/reply.hpp"
#include "aggregator/predict/model.hpp"
#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// What counts when a model server's last answer no longer does, a clause: "then the learned one".
/// `learned_counts`: policy::view::learned_counts().
std::string_view after_last_curve(bool learned_counts) noexcept;

/// Decides which question is asked when, and keeps the answers. Pure: time and answers are given.
///
/// One call at a time goes to each server, and most_calls to all together: servers that have waited for the
/// longest time go first. Ill ones have at most half of these calls, so that any number of silent servers
/// leaves the others their turns. The models of a server take turns, too. Of a model's questions the one
/// whose curve was begun goes first, then the one that has been without a curve for the longest time, or will
/// be first. So a slow model delays another one by a call, and no question waits for ever. troubles() names a
/// server that always had something due for 15 minutes.
///
/// A server that cannot be reached, or says that it is overloaded, gets no calls for a random time, which
/// grows with each failure up to a minute. If a server refuses a model, or the model's answer is impossible,
/// only this model gets a pause: a second at first, 15 minutes at most. A batch that may be too large, or is
/// answered in part, is halved, and the limit for this model is remembered; an hour later twice as many
/// points are tried. A batch that is not answered in time is halved, too, and the model gets a pause; only if
/// a single load is not answered in time does the server count as ill. An ill server is asked for one load
/// first. After 15 minutes an answer is asked for again; while no new one comes, it counts for an hour.
/// Bounds: most_questions. Questions that nobody asks any more for 10 minutes are dropped; when there is no
/// room for another one, those that nobody asks any more for 30 s.
///
/// The first call for a V2 model asks for its metadata: what its input is called, and what it takes. A server
/// that does not say is asked as WAO asks its models. When a model refuses a question, its metadata are read
/// again: it may be another model by then. When a model's answer names another version than the last one,
/// all curves of that model are asked for again at once; no curve is put together from two versions.
class asker {
 public:
  static constexpr std::size_t most_questions = 2'000;
  /// To all servers together: their answers may come at one moment, and kube-scheduler waits while they are
  /// read. A thousand endpoints, each with a call for metadata and one for a curve, both as late as they may
  /// be (500 ms), are asked in 1000 x 2 x 0.5 s / 8 = 125 s; while ill servers have half of the calls, in 250
  /// s. Both are less than asked_again_after. If all of them want a call for each load, these may take 70 ms.
  static constexpr std::size_t most_calls = 8;
  static constexpr duration asked_again_after = std::chrono::minutes(15);
  static constexpr duration counts_for = std::chrono::hours(1);
  static constexpr duration dropped_after = std::chrono::minutes(10);
  /// When there is no room for another one. Looking at all nodes takes much less time.
  static constexpr duration dropped_early_after = std::chrono::seconds(30);
  /// Replicas of a server may have different versions for a while, or for ever. So changes come no faster.
  static constexpr duration version_lasts = asked_again_after;
  static constexpr duration batches_grow_after = std::chrono::hours(1);

  explicit asker(std::uint64_t seed) : random_(seed) {}

  /// Returns what is known now, and notes that somebody still wants this question. Null: nothing is known.
  std::shared_ptr<const predict::model> want(const question& q, instant now);
  /// Why nothing newer is known, as a clause. Empty if all is well, or the question is being asked.
  std::string trouble(const question& q) const;
  /// A server or model with trouble.
  struct ill {
    std::string who;  ///< "model server h:1": the same while the trouble changes
    std::string sentence;
  };
  std::vector<ill> all_ill(bool learned_counts = true) const;
  /// Their sentences; ten at most, and one that counts the rest.
  std::vector<std::string> troubles(bool learned_counts = true) const;

  /// A call to be made now. answered() must be called for each of them.
  struct call {
    question about;
    std::size_t first = 0, count = 0;  ///< points; none: the model's metadata are asked for
    model_input input;                 ///< of a V2 model

    bool for_metadata() const noexcept { return count == 0; }
  };
  /// `may`: whether a model can be asked now, since the password that its server wants is known; empty: all.
  using may_be_asked = std::function<bool(const served_model&)>;
  std::vector<call> next(instant now, const may_be_asked& may = {});
  void answered(const call& c, const result<reply>& got, instant now);

  /// The password in this Secret has changed: the pauses after refusals end.
  void ask_at_once(std::string_view secret);

  const call_counters& counted() const noexcept { return counted_; }
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct server {
    bool busy = false;
    backoff pauses{{std::chrono::milliseconds(500), std::chrono::seconds(1), std::chrono::minutes(1)}};
    instant not_before{};
    std::string trouble;
    served_model last;                     // that was asked: the next one in order has the next turn
    std::optional<served_model> answers;   // that gave watts since another one was late
    std::optional<instant> waits_since;    // something is due, and it could be called
    std::optional<instant> at_work_since;  // no moment since then in which nothing was due
    bool falls_behind = false;
  };
  struct entry {
    std::shared_ptr<const predict::model> known;
    instant answered_at{};  // before the first answer: as if an earlier one had just ceased to count
    instant wanted_at{};
    instant not_before{};
    backoff pauses{{std::chrono::seconds(1), std::chrono::seconds(2), asked_again_after}};
    std::vector<double> watts;  // so far
    std::string version;        // that said them
    std::string trouble;
  };

  bool make_room(instant now);
  void forget_unused();
  void count(call_outcome o) noexcept { ++counted_[static_cast<std::size_t>(o)]; }
  std::size_t batch_of(const question& q, const entry& e, instant now);
  void halve(const call& c, instant now);
  void leave_alone(server& s, std::string why, duration at_least, instant now);
  void leave_alone(entry& e, call_outcome what, std::string why, instant now);
  void take(const question& q, entry& e, server& s, std::vector<double> watts, instant now);
  void note_version(const served_model& model, const std::string& said, instant now);
  void take_metadata(const call& c, entry& e, const result<reply>& got, instant now);
  bool due(const entry& e, instant now) const;
  call call_for(const question& q, const entry& e, const server& s, instant now);

  using entries = std::map<question, entry>;
  entries entries_;
  std::map<std::string, server> servers_;
  std::map<served_model, model_input> inputs_;  // of V2 models whose metadata were asked for
  /// That answered last, where the server says it.
  struct version {
    std::string text;
    instant changed_at{};
  };
  std::map<served_model, version> versions_;
  struct limit {
    std::size_t points_at_once = 0;
    instant since{};
  };
  std::map<served_model, limit> batches_;  // of models that did not take a whole curve
  std::mt19937_64 random_;
  call_counters counted_{};
  bool any_dropped_ = false;  // since next() forgot what belongs to dropped questions
  bool full_ = false;         // a question was refused
  instant room_at_{};         // no question can be dropped early before
};

}  // namespace binnacle::model_servers
