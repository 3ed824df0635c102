#pragma once

#include "cli/dashboard/topic.hpp"
#include "cli/upstream.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::dashboard {

/// What the aggregator says, asked once for all pages: a topic is asked for while some page follows it, at
/// the pace of pause_of(), and each page takes the newest when it is ready for it. Ten pages cost the
/// aggregator what one costs. Include from .cpp files only. Threads: one loop.
class feed {
  struct source;
  struct impl;

 public:
  static constexpr std::size_t most_topics = 64;        ///< of all pages together
  static constexpr std::size_t most_extra_metrics = 4;  ///< likewise, besides those that the aggregator lists
  /// Every page asks for it, to divide by; it counts for none.
  static constexpr std::string_view uncounted_metric = "os_cpus";

  feed(async::loop& on, upstream from, logger log);
  ~feed();
  feed(const feed&) = delete;
  feed& operator=(const feed&) = delete;

  /// What one page follows, until it is destroyed.
  class follower {
   public:
    ~follower();
    follower(const follower&) = delete;
    follower& operator=(const follower&) = delete;
    /// The events that are new to this page, as text/event-stream; empty: none.
    std::string next();
    /// Follows these from now on. The fleet goes on where it was; all else is told from its beginning, for
    /// what shows it is another part of the page. Errors: overloaded, as of follow(): what was followed is
    /// still.
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
  /// `wake` is called whenever next() may have something. Errors: overloaded, when all pages together follow
  /// too much.
  result<std::unique_ptr<follower>> follow(const std::vector<topic>& what, std::vector<std::string> metrics,
                                           std::function<void()> wake);

  /// What this cost, for the page itself.
  struct totals {
    std::size_t pages = 0;        ///< streams of pages
    std::size_t topics = 0;       ///< that are asked for
    std::uint64_t asked = 0;      ///< answers of the aggregator, or tries to get one
    std::uint64_t conflated = 0;  ///< versions that a page was too slow for, and was told with a later one
  };
  totals counters() const noexcept;

  /// Ends the asking. Before the loop goes.
  void stop();

 private:
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::cli::dashboard
