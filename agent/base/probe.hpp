#pragma once

#include "agent/base/source.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// What a source found.
struct source_findings {
  std::string source;
  std::vector<finding> found;

  /// Whether anything of it can be read.
  bool works() const noexcept;
};

std::string_view to_string(finding::grade g) noexcept;

/// What --probe says of series that a source announced to `scratch` and found no value for; nothing when each
/// has one, or has it from the second reading on.
std::optional<finding> without_value(const board& scratch);

/// Asks each source that `which` takes. A source that throws counts as broken, with what it threw. A source
/// without findings, because it only combines other sources, is left out.
std::vector<source_findings> probe_all(
    std::span<const std::unique_ptr<source>> sources,
    const std::function<bool(const source&)>& which = [](const source&) { return true; });

/// For people: a line for each finding, what to do below it, and a last line that counts.
std::string as_text(const std::string& node, std::span<const source_findings> all);
/// {"node": …, "sources": [{"source": …, "works": …, "findings": [{"grade", "what", "why", "remedy"}]}]}
std::string as_json(const std::string& node, std::span<const source_findings> all);

}  // namespace binnacle::agent
