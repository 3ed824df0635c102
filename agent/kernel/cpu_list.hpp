#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// The CPUs of the kernel's list form ("0-3,8,10-11", with or without a line end), ascending; an empty text
/// is no CPU. Nothing for any other text. Pure. Source: Linux Documentation/admin-guide/cputopology.rst;
/// bitmap_parselist().
std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text);

/// The list in such a file, as `cpumask` of a PMU or `online` of the CPUs; nothing if it cannot be read.
std::optional<std::vector<unsigned>> read_cpu_list(const std::string& path);

}  // namespace binnacle::agent
