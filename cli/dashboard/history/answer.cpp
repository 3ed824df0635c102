#include "cli/dashboard/history/answer.hpp"

#include "cli/json.hpp"
#include "common/text/json_writer.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace binnacle::cli::dashboard::history {
namespace {

constexpr std::size_t most_lines = 3;
constexpr std::size_t most_said = 300;  // letters of a server's own sentence

std::string_view remedy(errc code) {
  switch (code) {
    case errc::permission:
      return "; check --history-ca (who signed the server), --history-cert and --history-key";
    case errc::timeout: return "; a shorter span asks less of it";
    case errc::overloaded: return "";
    default: return "; is the database running there? --history names another address";
  }
}

error no_answer(std::string_view from, std::string_view why) {
  return {errc::protocol,
          fmt::format("{} answered {}: is that a server with Prometheus' HTTP API? It is asked for "
                      "/api/v1/query_range below the address that --history names",
                      from, why)};
}

std::string shortened(std::string said) {
  if (said.size() > most_said) said.replace(most_said, said.npos, "…");
  return said;
}

/// [1700000000.5, "71.4"]: the time in ms and the value; the value is missing where it is no number.
struct told_point {
  std::int64_t at_ms = 0;
  std::optional<double> value;
};
std::optional<told_point> read_point(const json::value& v) {
  const json::array* pair = v.if_array();
  if (pair == nullptr || pair->size() != 2 || !(*pair)[1].is_string()) return std::nullopt;
  double at = 0;
  if (const auto* d = (*pair)[0].if_double())
    at = *d;
  else if (const auto* i = (*pair)[0].if_int64())
    at = static_cast<double>(*i);
  else
    return std::nullopt;
  if (!(std::abs(at) < 1e12)) return std::nullopt;
  told_point out{std::llround(at * 1000), std::nullopt};
  const json::string& digits = (*pair)[1].get_string();
  double value = 0;
  const char* const begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const auto read = std::from_chars(begin, digits.data() + digits.size(), value);
  if (read.ec == std::errc::invalid_argument || read.ptr != digits.data() + digits.size())
    return std::nullopt;
  if (read.ec == std::errc() && std::isfinite(value)) out.value = value;
  return out;
}

std::optional<line> read_line(const json::value& v, const range& when) {
  line out;
  out.name = text(object(v, "metric").contains("line") ? object(v, "metric").at("line") : json::value());
  std::int64_t before = when.from_s * 1000 - 1;
  for (const json::value& one : list(v, "values")) {
    const auto point = read_point(one);
    // Points must be in order of time and within the range that was asked for. Otherwise the chart's line
    // would run back and forth.
    if (!point || point->at_ms <= before || point->at_ms > when.to_s * 1000) return std::nullopt;
    before = point->at_ms;
    if (point->value) out.points.emplace_back(point->at_ms, *point->value);
  }
  return out;
}

}  // namespace

result<std::vector<line>> understood(std::string_view from, const result<http::answer>& got,
                                     const range& when) {
  if (got.has_error()) {
    return error{got.error().code, fmt::format("cannot ask {} for history: {}{}", from, got.error().message,
                                               remedy(got.error().code))};
  }
  boost::system::error_code ec;
  const json::value told = json::parse(got->body, ec);
  const std::string said = ec ? std::string() : shortened(text(told, "error"));
  if (got->status == 401 || got->status == 403) {
    return error{errc::permission,
                 fmt::format("{} refuses to tell history with {}{}{}: check --history-token and "
                             "--history-user",
                             from, got->status, said.empty() ? "" : ", ", said)};
  }
  if (!said.empty()) return error{errc::unsupported, fmt::format("{} tells no history: {}", from, said)};
  if (got->status != 200) return no_answer(from, fmt::format("with HTTP status {}", got->status));
  if (ec) return no_answer(from, "no JSON");
  const json::value* data = member(told, "data");
  if (data == nullptr || text(told, "status") != "success" || text(*data, "resultType") != "matrix")
    return no_answer(from, "something else than values over time");
  const json::array& all = list(*data, "result");
  if (all.size() > most_lines) return no_answer(from, "more series than were asked for");
  std::vector<line> lines;
  for (const json::value& one : all) {
    auto read = read_line(one, when);
    if (!read) return no_answer(from, "values that are no series in order of time");
    if (!read->points.empty()) lines.push_back(std::move(*read));
  }
  return lines;
}

std::string page_text(const std::vector<line>& lines, const range& when, std::chrono::seconds step,
                      std::string_view promql) {
  std::string out;
  json_writer to(out);
  to.begin_object().field("fromMs", when.from_s * 1000).field("toMs", when.to_s * 1000);
  to.field("stepMs", step.count() * 1000).field("query", promql).key("lines").begin_array();
  for (const line& l : lines) {
    to.begin_object().field("name", l.name).key("points").begin_array();
    for (const auto& [at, value] : l.points)
      to.begin_array().value(at).raw(fmt::format("{}", value)).end_array();
    to.end_array().end_object();
  }
  to.end_array().end_object();
  return out;
}

}  // namespace binnacle::cli::dashboard::history
