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

/// What --probe says of the series that a source announced to `scratch` without giving them a value. Nothing
/// if every series has a value, or will have one from the second reading on.
std::optional<finding> without_value(const board& scratch);

/// Probes each source whose name `which` accepts. A source that throws is reported as broken, with the
/// exception's text. A source without findings is left out: it only combines other sources.
std::vector<source_findings> probe_all(
    std::span<const std::unique_ptr<source>> sources,
    const std::function<bool(const source&)>& which = [](const source&) { return true; });

/// The findings as text for people: one line each, the remedy below it, and a last line with the counts. A
/// '?' stands for what a terminal would obey, and for bytes that are not UTF-8.
std::string as_text(const std::string& node, std::span<const source_findings> all);
/// {"node": …, "sources": [{"source": …, "works": …, "findings": [{"grade", "what", "why", "remedy"}]}]}
std::string as_json(const std::string& node, std::span<const source_findings> all);

}  // namespace binnacle::agent
