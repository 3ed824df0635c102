#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/rapl/rapl.hpp"

namespace binnacle::agent {

class rapl_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "rapl"; }
  void bind(config_spec& spec) override;
  void add_needs(const settings& s, source_needs& needs) const override;
  rapl_options options(const settings& s) const;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;

 private:
  duration period_{};
  duration least_period_ = rapl_options{}.least_period;
  duration still_after_ = rapl_options{}.still_after;
  double tdp_watts_ = 0;
};

}  // namespace binnacle::agent
