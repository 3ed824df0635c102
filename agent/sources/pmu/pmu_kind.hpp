#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/pmu/pmu.hpp"
#include "agent/sources/pmu/pods.hpp"

#include <cstdint>

namespace binnacle::agent {

class pmu_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "pmu"; }
  void bind(config_spec& spec) override;
  void add_needs(const settings& s, source_needs& needs) const override;
  pmu_options options(const settings& s) const;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;

 private:
  duration period_{};
  event_wishes wishes_;
  bool per_cpu_ = false;
};

/// The same counters for each pod. This is a source of its own, because it has its own period and cost.
class pod_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "pmu-pods"; }
  bool usual() const noexcept override { return false; }
  bool offered() const noexcept override { return false; }
  bool of_this_machine() const override { return false; }
  bool wanted(const settings& s) const override { return (s.reads("pmu") && on_) || s.reads(name()); }
  void bind(config_spec& spec) override;
  void add_needs(const settings& s, source_needs& needs) const override;
  pod_options options(const settings& s) const;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;

 private:
  bool on_ = false;
  duration period_ = pod_options{}.period;
  std::int64_t most_pods_ = static_cast<std::int64_t>(pod_options{}.most_pods);
};

}  // namespace binnacle::agent
