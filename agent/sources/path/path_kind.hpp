#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/path/path_source.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

class path_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "path"; }
  bool of_this_machine() const override { return false; }
  void bind(config_spec& spec) override;
  result<void> complete(const settings& s) override;
  /// CAP_NET_RAW for ICMP, if no ping socket is allowed.
  void add_needs(const settings& s, source_needs& needs) const override;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;
  std::vector<finding> why_not_made() const override;

 private:
  std::vector<std::string> named_;
  path_options chosen_{.period = {}};
};

}  // namespace binnacle::agent
