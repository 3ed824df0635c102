#pragma once

#include "common/clock.hpp"
#include "common/keyed_hash.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::extender {

/// Pods that were placed a moment ago and whose load no value shows yet. They count against their node, so
/// that a hundred pods at once do not all go to the coolest one (herd damping, README.md). If a metric ranks
/// the nodes, each pod costs its node one point. If predicted watts rank them, the cores of the pods count.
///
/// Each pod is known by its uid. After our answer it is `expected` on the node with the best score (of
/// several, the uid chooses one), because the scheduler takes that node unless another plug-in outvotes us.
/// It is `bound` when the API server says where it is, which is the truth. Standalone it stays expected.
/// Ends:    a pod counts until the value that ranks the nodes shows it (see counting()), until it is gone,
///          and for `lifetime` at most. Where bindings are followed, the point of an expectation counts for
///          `unconfirmed`; its cores go on, since binding may wait for a volume or for other pods. There
///          the cores of a bound pod also count while it is not Ready, since a large image takes minutes to
///          load, but for `longest_start` at most: some pods run and are never Ready. From Ready on they
///          count for `lifetime` at most. Its point counts for `lifetime` only, or a pod that never starts
///          would cost its node a point for ever.
/// Bounds:  `most` pods; the oldest give way and are counted.
/// Pure: time is an argument, and never goes back. Instants are our own, never those of another machine.
/// Only bound() may name a time before the last one: a replica that starts again hears late of old pods.
class placements {
 public:
  struct settings {
    duration lifetime = std::chrono::seconds(60);
    duration unconfirmed = std::chrono::seconds(10);
    duration longest_start = std::chrono::minutes(30);
    /// The time from Ready until the pod's load surely shows in a sensor's value: programs must start, and
    /// metrics with collectd's names are means over 10 s.
    duration settle = std::chrono::seconds(10);
    std::size_t most = 20'000;
  };

  placements() = default;
  explicit placements(settings s) : settings_(s) {}

  /// Whether somebody tells bound(), ready() and gone() of every pod.
  void bindings_followed(bool yes) noexcept { followed_ = yes; }

  /// `cores`: what the pod asks for (predict::pod_cpu).
  void expected(const std::string& uid, std::string_view node, instant now, double cores = 0);
  /// `ago`: how long the pod has been there, 0 or more. It counts as if it had been told then.
  void bound(const std::string& uid, std::string_view node, instant now, double cores = 0, duration ago = {});
  /// The pod's containers run now, or no longer do. Does nothing for a pod that does not count.
  void ready(const std::string& uid, bool is, instant now);
  void gone(const std::string& uid);

  /// A pod on its node. Each prioritize goes through these.
  struct resident {
    std::string uid;
    std::optional<instant> ready;
    double cores = 0;
    bool only_cores = false;  ///< it has been there for long: it costs no point any more
  };
  struct crowd {
    std::string_view node;
    std::span<const resident> pods;
  };
  /// Nodes that have such pods, by name; valid until the next change.
  std::vector<crowd> crowds(instant now);
  struct unseen {
    std::uint32_t pods = 0;
    double cores = 0;  ///< the sum of their requests
  };
  /// The node's pods that a value does not show yet. The value was read at `read_at` and covers the `window`
  /// before. It shows a pod only if the pod was Ready at least `settle` before the window began.
  unseen counting(const crowd& on, instant read_at, duration window) const;

  std::size_t size() const noexcept { return pods_.size(); }
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  struct pod {
    std::string node;
    instant since{};  // expected or bound
    bool confirmed = false;
    bool was_ready = false;
    std::size_t place = 0;  // among the residents of its node
  };
  using pods = std::unordered_map<std::string, pod, keyed_hash>;

  using queue = std::multimap<instant, std::string>;  // uids by `since`; some pods have gone meanwhile
  using entry = queue::value_type;

  void put(const std::string& uid, std::string_view node, instant since, double cores, bool confirmed);
  resident& resident_of(const pod& p);
  void bound_entries(queue& in);
  void drop_front(queue& from);
  void take_from_node(const pod& p);
  void expire(instant now);
  pod* still(const entry& put);
  pod* still_expected(const entry& put);

  settings settings_{};
  bool followed_ = false;
  pods pods_;  // by uid
  std::map<std::string, std::vector<resident>, std::less<>> nodes_;
  queue by_age_, expected_;
  queue starting_;  // older than `lifetime` and not Ready yet
  std::uint64_t dropped_ = 0;
};

}  // namespace binnacle::extender
