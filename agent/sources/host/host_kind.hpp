#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/host/host.hpp"

namespace binnacle::agent {

/// Always read, and last in the list: it is made of the sources before it.
class host_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "host"; }
  bool offered() const noexcept override { return false; }
  bool of_this_machine() const override { return false; }
  bool wanted(const settings& /*s*/) const override { return true; }
  void bind(config_spec& spec) override;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;

 private:
  std::vector<std::string> inlets_ = host_options{}.inlets;
  std::vector<std::string> powers_ = host_options{}.powers;
  duration wait_ = host_options{}.wait;
};

}  // namespace binnacle::agent
