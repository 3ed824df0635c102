#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Parses the kernel's lists of CPUs ("0-3,8,10-11", with or without a line end); the result is ascending and
/// has each CPU once, so at most 8192, however often the text names it. An empty text is an empty list.
/// Nothing if the text has another form. Pure. Source: Linux Documentation/admin-guide/cputopology.rst;
/// bitmap_parselist().
std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text);

/// Reads such a list from a file, for example a PMU's `cpumask`. Nothing if it cannot be read.
std::optional<std::vector<unsigned>> read_cpu_list(const std::string& path);
/// The CPUs that are online. Nothing if the list cannot be read.
std::optional<std::vector<unsigned>> online_cpus(const std::string& sys_root);

}  // namespace binnacle::agent
