#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace binnacle::cli {

struct top_layout {
  std::vector<std::string> metrics;  ///< shown besides power, temperature and CPU
  std::size_t width = 0;             ///< columns of the terminal; 0: as wide as it takes
  std::size_t height = 0;            ///< lines of the terminal; 0: all nodes
};

/// The answer of /api/v1/nodes as a table: most watts first, each value with its age, one column per policy,
/// and why. Lines end in '\n'.
std::string render_top(const json::value& nodes, const std::string& url, const top_layout& layout,
                       const paint& with);

/// Those of `wanted` that no node of the answer has a value of.
std::vector<std::string> metrics_without_value(const json::value& nodes, std::vector<std::string> wanted);

}  // namespace binnacle::cli
