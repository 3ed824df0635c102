#pragma once

#include "common/metrics/family.hpp"

/// Metrics about the *.prom files themselves. The metrics in these files keep their own names. Included by
/// families.cpp alone.
namespace binnacle::metrics::tables {

inline constexpr std::string_view textfile_file[] = {"file"};

inline constexpr family textfile[] = {
    {.name = "textfile_mtime_seconds",
     .unit = "seconds",
     .exponent = 0,
     .help = "When the file was last written, in seconds since 1970. The age of its values counts from the "
             "last read instead.",
     .labels = textfile_file,
     .rule = node_rule::min,
     .source = "textfile"},
    {.name = "textfile_read_success",
     .unit = "",
     .help = "1 if the last reading of the file was complete and well-formed, otherwise 0.",
     .labels = textfile_file,
     .rule = node_rule::min,
     .source = "textfile"},
};

}  // namespace binnacle::metrics::tables
