#pragma once

#include "cli/dashboard/pod_names.hpp"
#include "cli/dashboard/rounds.hpp"
#include "cli/dashboard/topic.hpp"
#include "cli/upstream.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::dashboard {

/// Asks the aggregator once for all pages. A topic is asked for while some page follows it, every pause_of().
/// Each page takes the newest answer when it is ready for it. So ten pages cost the aggregator as much as
/// one. Include from .cpp files only. Threads: one loop.
class feed {
  struct source;
  struct asker;
  struct impl;

 public:
  static constexpr std::size_t most_topics = 64;  ///< of all pages together
  static constexpr std::size_t most_askers = 64;  ///< pages without a stream
  /// How long a page without a stream may take for its next question.
  static constexpr std::chrono::seconds patience{10};
  static constexpr std::size_t most_extra_metrics = 4;  ///< of all pages, besides the aggregator's own list
  /// Every page asks for this metric, to divide by it; it does not count towards most_extra_metrics.
  static constexpr std::string_view uncounted_metric = "os_cpus";

  /// `doctor` and `names` must outlive the loop's last turn.
  feed(async::loop& on, upstream from, rounds& doctor, pod_names& names, logger log);
  ~feed();
  feed(const feed&) = delete;
  feed& operator=(const feed&) = delete;

  /// The topics that one page follows, as long as this object lives.
  class follower {
   public:
    ~follower();
    follower(const follower&) = delete;
    follower& operator=(const follower&) = delete;
    /// The events that this page has not had yet, as text/event-stream; empty if there are none.
    std::string next();
    /// Follows these topics from now on. The fleet goes on where it was; all other topics are told from their
    /// beginning, because another part of the page shows them. Errors: overloaded, as follow(); the page then
    /// still follows what it followed before.
    result<void> change(const std::vector<topic>& what, std::vector<std::string> metrics);

   private:
    friend class feed;
    struct place;
    void leave(source& s);
    explicit follower(std::shared_ptr<impl> of);
    std::shared_ptr<impl> of_;
    std::vector<place> places_;
    std::vector<std::string> metrics_;
    std::function<void()> wake_;
  };
  /// `wake` is called whenever next() may have something. Errors: overloaded, if all pages together would
  /// follow too much.
  result<std::unique_ptr<follower>> follow(const std::vector<topic>& what, std::vector<std::string> metrics,
                                           std::function<void()> wake);

  /// The events that a page without a stream has not had yet. It asks again and again, by a name that it
  /// chose. What it follows is kept until `patience` passes without a question. Errors: as of follow().
  result<std::string> changes(const std::string& page, const std::vector<topic>& what,
                              const std::vector<std::string>& metrics);

  /// What all this cost, for the page itself to show.
  struct totals {
    std::size_t pages = 0;        ///< that follow something
    std::size_t topics = 0;       ///< that are asked for
    std::uint64_t asked = 0;      ///< how often the aggregator was asked, answered or not
    std::uint64_t conflated = 0;  ///< versions that a slow page skipped, because a later one came first
  };
  totals counters() const noexcept;

  /// Stops asking. Call it before the loop ends.
  void stop();

 private:
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::cli::dashboard
