#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/metrics/families.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a page may ask of the user's time-series database: the past of one series, of a node's number, or of
/// the whole fleet. A page never sends PromQL: it sends names, and this code writes the query.
namespace binnacle::cli::dashboard::history {

/// How far back a chart goes, and how far apart its values are.
struct reach {
  std::string_view name;  ///< "15m", as the page says it
  std::chrono::seconds length{};
  std::chrono::seconds step{};
};
/// All spans, the shortest first. Each gives some 250 values.
std::span<const reach> reaches() noexcept;

/// Which names our series have in the database.
enum class naming : std::uint8_t {
  ours,       ///< remote write, or a scrape by the chart's monitors: our names, with the label `node`
  otlp,       ///< OTLP into Prometheus: OpenTelemetry's names for hardware, as hw_power_watts, job, instance
  otlp_dots,  ///< OTLP into VictoriaMetrics, which keeps the names: hw.power, k8s.node.name
};
/// "remote-write", "otlp", "otlp-dots". Errors: invalid_input.
result<naming> parse_naming(std::string_view text);

struct question {
  std::string node;            ///< empty: the lowest, the median and the highest value of all nodes
  std::string metric;          ///< named as in rules: the question is about a node's one number of it
  std::string family;          ///< instead of `metric`: the series of `node` with the labels `labels`
  metrics::label_set labels;   ///< of `family`, as Binnacle knows them
  std::string_view statistic;  ///< of a window, named as in rules: "avg"; empty: the value itself
  duration window{};
  reach over;
};

/// Reads a request's query: `span=1h` and `metric=NAME`, with `node=NAME` if it is about one node; or
/// `span=1h`, `node=NAME`, `family=NAME` and a `label=KEY=VALUE` for each label. Both forms may have
/// `window=avg 30s`, written as in a rule. Errors: invalid_input, a sentence for people.
result<question> parse_question(const std::vector<std::pair<std::string, std::string>>& query);

/// The query in PromQL. A series that reached the database in two ways of one naming, or from two replicas,
/// counts once. `where` has labels that every series must have, too. A node's number follows the metric's
/// node rule and the built-in aliases. In a window each value counts as long as it was the newest one. The
/// query yields one series without labels; for the fleet three, with the label `line`: "lowest", "median",
/// "highest". Errors: unsupported, if the metric is one series of a family (a flat name).
result<std::string> promql(const question& q, const metrics::label_set& where, naming by);

/// Begin and end of the answer: whole steps; the last one is not in the future.
struct range {
  std::int64_t from_s = 0, to_s = 0;  ///< Unix time
};
range range_of(const reach& over, std::int64_t now_s) noexcept;

/// Path and query of the GET request, below a server's `prefix` ("/prometheus" or nothing). After `patience`
/// the server itself should give up.
/// Source: prometheus.io/docs/prometheus/latest/querying/api, range queries.
std::string target_of(std::string_view prefix, std::string_view promql, const range& when,
                      std::chrono::seconds step, std::chrono::seconds patience);

}  // namespace binnacle::cli::dashboard::history
