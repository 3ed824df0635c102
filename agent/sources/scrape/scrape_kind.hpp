#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/sources/scrape/target.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

class scrape_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "scrape"; }
  bool of_this_machine() const override { return false; }
  void bind(config_spec& spec) override;
  /// Reads scrape-file if the source is wanted. Blocks for that.
  result<void> complete(const settings& s) override;
  void add_needs(const settings& s, source_needs& needs) const override;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;
  std::vector<finding> why_not_made() const override;

  /// The targets named by address and those in the file. Empty before complete().
  const std::vector<scrape_target>& targets() const noexcept { return targets_; }

 private:
  duration period_{};
  std::vector<std::string> addresses_, metrics_;
  std::string file_;
  std::vector<scrape_target> targets_;
};

}  // namespace binnacle::agent
