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

/// The exporters of this node: their series under their own names, so that any number there can be in a
/// policy. Each target has a group, a period and a coroutine of its own; one that is down takes only its own
/// series with it, says why, and is back by itself. What a scrape may cost is bounded (scraper.hpp).
class scrape_source final : public source {
 public:
  explicit scrape_source(scrape_options options, clocks time = {});
  ~scrape_source() override;

  std::string_view name() const noexcept override { return "scrape"; }
  duration period() const noexcept override { return options_.period; }
  bool waits() const noexcept override { return true; }
  void start(async::task_group& beside, std::function<void()> arrived) override;
  /// Scrapes every target once, all at a time.
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
  board::group_ref group_ = board::no_group;  // what is said about the targets themselves
  std::vector<std::unique_ptr<watched>> targets_;
};

}  // namespace binnacle::agent
