#pragma once

#include "cli/dashboard/history/question.hpp"
#include "common/error.hpp"
#include "common/http/response_parser.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::cli::dashboard::history {

struct line {
  std::string name;  ///< "lowest", "median", "highest"; empty: the only one
  std::vector<std::pair<std::int64_t, double>> points;  ///< Unix time in ms, value; in order of time
};

/// Reads a database's answer. A time without a value, or with a value that is no number, gives no point. An
/// answer without lines means that nothing is known. `from` is the server's URL, for messages. Errors: why
/// there was no answer; the server's own sentence if it refused; protocol if this is no answer to a question
/// about `when`. Each error is one sentence with the remedy. Pure.
result<std::vector<line>> understood(std::string_view from, const result<http::answer>& got,
                                     const range& when);

/// {"fromMs":…,"toMs":…,"stepMs":…,"query":"…","lines":[{"name":"","points":[[ms,71.4],…]}]}
std::string page_text(const std::vector<line>& lines, const range& when, std::chrono::seconds step,
                      std::string_view promql);

}  // namespace binnacle::cli::dashboard::history
