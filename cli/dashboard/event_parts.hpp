#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/doctor/report.hpp"
#include "common/text/json_writer.hpp"

#include <chrono>
#include <cstdint>

/// What the events of several topics have in common.
namespace binnacle::cli::dashboard {

/// Now, as Unix time in milliseconds.
inline std::int64_t unix_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// Adds "findings":[{"grade":…,"sentence":…,"remedy":…}] to the object that `out` is in; "remedy" only where
/// there is one.
inline void add_findings(json_writer& out, const doctor::findings& all) {
  out.key("findings").begin_array();
  for (const doctor::finding& f : all) {
    out.begin_object().field("grade", doctor::to_string(f.how)).field("sentence", f.sentence);
    if (!f.remedy.empty()) out.field("remedy", f.remedy);
    out.end_object();
  }
  out.end_array();
}

}  // namespace binnacle::cli::dashboard
