#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/rdt/rdt.hpp"

#include <cstdint>

namespace binnacle::agent {

/// Off unless `sources` names it: the agent does not look at users' groups without being asked.
class rdt_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "rdt"; }
  bool usual() const noexcept override { return false; }
  void bind(config_spec& spec) override;
  rdt_options options(const settings& s) const;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;
  std::vector<finding> why_not_made() const override;

 private:
  duration period_{};
  std::int64_t most_groups_ = static_cast<std::int64_t>(rdt_options{}.most_groups);
};

}  // namespace binnacle::agent
