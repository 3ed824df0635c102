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
  std::string name;                                     ///< "lowest"; empty: the only one
  std::vector<std::pair<std::int64_t, double>> points;  ///< Unix time in ms, value; in order of time
};

/// What a database's answer means. A time without a value, or with one that is no number, has no point; no
/// line at all: nothing is known. `from`: the server's URL, for messages. Errors: what kept it from an
/// answer, the sentence of its refusal, or protocol for what is no answer to `when` at all; one sentence with
/// the remedy. Pure.
result<std::vector<line>> understood(std::string_view from, const result<http::answer>& got,
                                     const range& when);

/// {"fromMs":…,"toMs":…,"stepMs":…,"query":"…","lines":[{"name":"","points":[[ms,71.4],…]}]}
std::string page_text(const std::vector<line>& lines, const range& when, std::chrono::seconds step,
                      std::string_view promql);

}  // namespace binnacle::cli::dashboard::history
