#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/os/os.hpp"

namespace binnacle::agent {

class os_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "os"; }
  void bind(config_spec& spec) override;
  os_options options(const settings& s) const;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;

 private:
  os_options chosen_{.period = {}};
};

}  // namespace binnacle::agent
