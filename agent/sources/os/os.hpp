#pragma once

#include "agent/base/source.hpp"
#include "agent/sources/os/part.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

/// What the kernel says about the machine: CPU time, load, memory, interfaces, huge pages, pressure, uptime,
/// CPU frequency, thermal throttling, sensor chips and thermal zones. Rates are computed here, because here
/// the times of the reads are known.
class os_source final : public source {
 public:
  explicit os_source(os_options options);

  std::string_view name() const noexcept override { return "os"; }
  duration period() const noexcept override { return options_.period; }
  duration least_period() const noexcept override {
    return std::min<duration>(options_.period, std::chrono::seconds(1));
  }
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override { return limitation_; }
  result<void> read(board& out) override;

 private:
  struct entry {
    std::unique_ptr<os_part> part;
    bool found = false;  // it is announced, and is read from then on
  };
  static std::vector<entry> make_parts(const os_options& options);

  os_options options_;
  board::group_ref group_ = board::no_group;
  std::vector<entry> parts_;
  std::string limitation_;
};

}  // namespace binnacle::agent
