#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sources/foreign_series.hpp"
#include "agent/sources/scrape/target.hpp"

#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

struct scrape_options {
  std::vector<scrape_target> targets;
  duration period = std::chrono::seconds(1);
  /// Shared with the other sources of foreign series.
  std::shared_ptr<foreign_names> names = std::make_shared<foreign_names>();
};

/// The exporters of this node. Their series keep their own names, so a policy can use any number that an
/// exporter gives. Each target has its own group, period and coroutine. A target that is down makes only its
/// own series absent, says why, and comes back by itself. The cost of a scrape is bounded (scraper.hpp).
class scrape_source final : public source {
 public:
  explicit scrape_source(scrape_options options, clocks time = {});
  ~scrape_source() override;

  std::string_view name() const noexcept override { return "scrape"; }
  duration period() const noexcept override { return options_.period; }
  bool waits() const noexcept override { return true; }
  void start(async::task_group& beside, std::function<void()> arrived) override;
  /// Scrapes every target once, all at the same time.
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override;
  result<void> read(board& out) override;

 private:
  struct inbox;
  struct watched;

  void take(watched& w, board& out);

  scrape_options options_;
  clocks time_;
  board::group_ref group_ = board::no_group;  // series about the targets themselves
  std::vector<std::unique_ptr<watched>> targets_;
};

}  // namespace binnacle::agent
