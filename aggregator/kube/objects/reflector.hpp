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
#include <set>
#include <string>
#include <string_view>

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
  /// Everything that was there at one moment has been reported.
  virtual void synced() = 0;
};

/// Keeps up with one collection of objects by list and watch: says what to ask the API server next and takes
/// what came of it. Pure: bytes and time are given. What it knows stays when the server cannot be asked.
/// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection of changes".
class reflector {
 public:
  static constexpr std::size_t usual_page = 500;
  struct settings {
    std::string path;        ///< "/apis/telemetry.intel.com/v1alpha1/taspolicies"
    std::string what;        ///< for messages: "TASPolicy objects"
    std::string if_unknown;  ///< what to do when the server has no such collection (404)
    std::string list_accept = "application/json";
    std::string watch_accept = "application/json";
    std::string field_selector;  ///< of the objects wanted; empty: all
    /// Objects of one answer. Fewer than usual: they are large, and every list comes by such pages.
    std::size_t page = usual_page;
  };
  enum class step : unsigned char { list, watch, wait };
  struct action {
    step what = step::wait;
    std::string target;
    std::string accept;
    /// list: for the whole answer; watch: the longest silence, after which the connection counts as dead;
    /// wait: how long.
    duration within{};
  };
  struct counters {
    std::uint64_t lists = 0, watches = 0, events = 0, failures = 0, expired = 0;
  };

  reflector(settings s, watcher& tell, std::uint64_t seed);

  /// What to do now; then the one call below that says what came of it.
  action next(instant now);
  void listed(const http::answer& a, instant now);
  /// The watch's answer: head alone for a 200, with the body for anything else. True: go on with received().
  bool opened(const http::answer& a, instant now);
  /// A piece of the watch's body. False: close it and ask next().
  bool received(std::string_view piece, instant now);
  /// The server ended the watch in order, which it does every few minutes.
  void ended(instant now);
  /// List or watch met an error of the network (timeout: the watch was silent for too long).
  void broke(const error& why, instant now);

  /// A complete list has been told since the start.
  bool is_synced() const noexcept { return synced_; }
  /// The server has said for a while that it has no such collection: there is nothing to be told.
  bool is_absent() const noexcept { return absent_; }
  std::size_t size() const noexcept { return known_.size(); }
  /// Why it is not up to date, in one sentence; empty when it is.
  const std::string& trouble() const noexcept { return trouble_; }
  const counters& stats() const noexcept { return counters_; }

 private:
  enum class from : unsigned char { cache, last, newest };  // where a list may come from

  std::string asked(std::string_view how) const;
  std::string list_target() const;
  std::string watch_target();
  void take_items(const boost::json::object& list);
  void finish_list(const boost::json::object& list);
  bool take_event(const boost::json::object& event, instant now);
  void upsert(const boost::json::object& object);
  void forget(const object_key& key);
  void relist(from where);
  void fail(const error& why, std::optional<duration> retry_after, instant now);
  void refused(const refusal& r, instant now);
  void unknown(const refusal& r, instant now);

  const settings settings_;
  watcher& tell_;
  std::mt19937_64 random_;
  backoff pauses_;
  instant last_failure_{};
  std::optional<duration> pause_;

  bool watching_ = false;
  from list_from_ = from::cache;
  std::string continue_;
  std::string version_;
  std::set<object_key> listed_;              // by the pages so far
  std::map<object_key, std::string> known_;  // with resourceVersion
  bool synced_ = false;
  std::optional<instant> unknown_since_;
  bool absent_ = false;

  std::optional<object_stream> stream_;  // of the watch that is open
  bool opened_ = false;                  // the watch asked for last was answered
  instant watch_began_{};
  std::uint64_t events_at_begin_ = 0;

  std::string trouble_;
  counters counters_;
};

}  // namespace binnacle::kube
