#pragma once

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/refusal.hpp"
#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/http/response_parser.hpp"

#include <boost/json/object.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::kube {

struct object_key {
  std::string name_space;  ///< empty for what belongs to no namespace
  std::string name;
  std::string text() const { return name_space.empty() ? name : name_space + "/" + name; }
  friend auto operator<=>(const object_key&, const object_key&) = default;
};

/// Receives what a reflector sees. An object is reported once per version. A deletion is also reported if the
/// watch missed it and only the next list shows it.
class watcher {
 public:
  virtual ~watcher() = default;
  virtual void changed(const object_key& key, const boost::json::object& object) = 0;
  virtual void gone(const object_key& key) = 0;
  /// A whole list has been reported: all objects that existed at one moment.
  virtual void synced() = 0;
};

/// Follows one collection of objects by list and watch. It says what to ask the API server next, and takes
/// the answers. Pure: bytes and time are given. If the server cannot be reached, the known objects stay.
/// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection of changes".
class reflector {
 public:
  static constexpr std::size_t usual_page = 500;
  /// How many known objects are compared with a new list in one go.
  static constexpr std::size_t compared_at_once = 500;
  struct settings {
    std::string path;        ///< "/apis/telemetry.intel.com/v1alpha1/taspolicies"
    std::string what;        ///< for messages: "TASPolicy objects"
    std::string if_unknown;  ///< what to do when the server has no such collection (404)
    duration look_again = std::chrono::seconds(5);  ///< how often to look whether it has one now
    std::string list_accept = "application/json";
    std::string watch_accept = "application/json";
    std::string field_selector;  ///< selects the wanted objects; empty: all
    /// Objects in one answer. If it is less than usual, the objects are large, and every list is read in such
    /// pages, or in smaller ones where these take too many bytes or too long.
    std::size_t page = usual_page;
  };
  enum class step : unsigned char { list, watch, wait };
  struct action {
    step what = step::wait;
    std::string target;
    std::string accept;
    /// For a list: the deadline of the whole answer. For a watch: the longest silence, after which the
    /// connection counts as dead. For a wait: how long to wait; zero: others have their turn, then go on.
    duration within{};
  };
  /// Members of objects (labels, annotations) beyond json_reader::most_members of one object.
  struct left_out {
    std::uint64_t members = 0;
    std::string last;  ///< the object that had the last of them, for people
  };
  struct counters {
    std::uint64_t lists = 0, watches = 0, events = 0, failures = 0, expired = 0;
  };

  reflector(settings s, watcher& tell, std::uint64_t seed);

  /// What to do now. Report the result afterwards by one of the functions below.
  action next(instant now);
  /// Takes the pieces of a list's body, which is a 200's, as they come.
  list_reader reader() {
    return list_reader([this](const boost::json::value& item, std::size_t left_out) {
      items_come_ = true;
      take_item(item, left_out);
    });
  }
  /// The body of a 200 is in `body`, that of a refusal in `a`.
  void listed(const http::answer& a, list_reader& body, instant now);
  /// Takes the watch's answer: only the head for a 200, head and body for other answers. True: go on with
  /// received().
  bool opened(const http::answer& a, instant now);
  /// Takes a piece of the watch's body. False: close the watch and call next().
  bool received(std::string_view piece, instant now);
  /// The server ended the watch in order, which it does every few minutes.
  void ended(instant now);
  /// List or watch met an error of the network (timeout: the watch was silent for too long).
  void broke(const error& why, instant now);

  /// Lists again when the present watch, or else the next one, ends, and then tells each object again, also
  /// those that have not changed. A list never follows a list for this.
  void read_again() noexcept { read_again_ = true; }

  /// Whether a complete list has been reported since the start.
  bool is_synced() const noexcept { return synced_; }
  /// Whether the server has said for a while that it has no such collection.
  bool is_absent() const noexcept { return absent_; }
  std::size_t size() const noexcept { return known_.size(); }
  /// The version up to which everything has been reported; empty before the first list.
  const std::string& version() const noexcept { return version_; }
  /// Why the known objects are not up to date, in one sentence; empty if they are.
  const std::string& trouble() const noexcept { return trouble_; }
  const counters& stats() const noexcept { return counters_; }
  /// What was left out of the objects that came since the last call.
  left_out take_left_out() { return std::exchange(left_out_, {}); }

 private:
  enum class from : unsigned char { cache, last, newest };  // where a list may come from

  std::string asked(std::string_view how) const;
  std::string list_target() const;
  std::string watch_target();
  void take_item(const boost::json::value& item, std::size_t members_left_out);
  void compare_some();
  bool take_event(const boost::json::object& event, instant now);
  void leave_out(std::size_t members, const object_key& of);
  void upsert(const boost::json::object& object);
  void forget(const object_key& key);
  void relist(from where);
  void halve_page(const error& why);
  void pause(std::optional<duration> retry_after, instant now);
  void fail(const error& why, std::optional<duration> retry_after, instant now);
  void refused(const refusal& r, instant now);
  void unknown(const refusal& r, instant now);

  const settings settings_;
  std::size_t page_;
  bool items_come_ = false;  // some of the page that was asked for last
  watcher& tell_;
  std::mt19937_64 random_;
  backoff pauses_;
  instant last_failure_{};
  std::optional<duration> pause_;
  bool told_to_wait_ = false;  // by a 429, since the last whole list or watch

  bool watching_ = false;
  bool read_again_ = false;
  from list_from_ = from::cache;
  std::string continue_;
  std::string version_;
  struct known_object {
    std::string version;     // its resourceVersion
    std::uint64_t seen = 0;  // in which list, or in the watch behind it
  };
  std::map<object_key, known_object> known_;
  std::uint64_t list_ = 0;  // the number of the list that is read, or of the last one
  /// A list whose pages are all here, and that is compared with the known objects.
  struct comparison {
    object_key from;      // the first object that is not compared yet
    std::string version;  // of the list
  };
  std::optional<comparison> comparing_;
  bool synced_ = false;
  std::optional<instant> unknown_since_;
  bool absent_ = false;

  std::optional<object_stream> stream_;  // of the watch that is open
  bool opened_ = false;                  // the watch asked for last was answered
  instant watch_began_{};
  std::uint64_t events_at_begin_ = 0;

  std::string trouble_;
  counters counters_;
  left_out left_out_;
};

}  // namespace binnacle::kube
