#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/textfile/textfile.hpp"

#include <string>

namespace binnacle::agent {

class textfile_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "textfile"; }
  bool of_this_machine() const override { return false; }
  void bind(config_spec& spec) override;
  /// The folder and its files. The targets of users' links are not among them, because a link may lead to any
  /// file of the node.
  void add_needs(const settings& s, source_needs& needs) const override;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;
  std::vector<finding> why_not_made() const override;

 private:
  duration period_{};
  std::string folder_;
};

}  // namespace binnacle::agent
