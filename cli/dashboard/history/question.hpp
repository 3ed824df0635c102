#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/metrics/catalog.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a page may ask of the user's own time-series database: the past of one series, of a node's number, or
/// of the whole fleet's. Never PromQL of its own: the page names things, and we write the query.
namespace binnacle::cli::dashboard::history {

/// How far back a chart goes, and how far apart its values are.
struct reach {
  std::string_view name;  ///< "15m", as the page says it
  std::chrono::seconds length{};
  std::chrono::seconds step{};
};
/// From the shortest on. Each has some 250 values.
std::span<const reach> reaches() noexcept;

/// By which names the database knows our series.
enum class naming : std::uint8_t {
  ours,       ///< those of remote write and of a scrape by the chart's monitors: ours, with the label `node`
  otlp,       ///< OpenTelemetry's for hardware, as Prometheus writes them: hw_power_watts, job, instance
  otlp_dots,  ///< the same as they came, as VictoriaMetrics keeps them: hw.power, k8s.node.name
};
/// "remote-write", "otlp", "otlp-dots". Errors: invalid_input.
result<naming> parse_naming(std::string_view text);

struct question {
  std::string node;    ///< empty: all nodes, of which the lowest, the median and the highest value are wanted
  std::string metric;  ///< as rules name it: a node's one number of it
  std::string family;  ///< in its place: the series of `node` with these labels
  metrics::label_set labels;   ///< of `family`, as Binnacle knows them
  std::string_view statistic;  ///< of a window, as rules name it: "avg"; empty: the value itself
  duration window{};
  reach over;
};

/// From a request's query: `span=1h`, then `metric=NAME`, with `node=NAME` if it is about one node; or
/// `node=NAME`, `family=NAME` and `label=KEY=VALUE` for each label. Errors: invalid_input, a sentence for
/// people. Either may have `window=avg 30s`, as a rule's text says it.
result<question> parse_question(const std::vector<std::pair<std::string, std::string>>& query);

/// The query in PromQL. A series that came by two ways of one naming, or from two replicas, counts once.
/// `where`: labels that every series must have, too. A node's number follows the metric's node rule and the
/// built-in aliases. In a window each value counts as long as it was the newest one. Shape: one series
/// without labels; of the fleet three, with the label `line`: "lowest", "median", "highest". Errors:
/// unsupported, when the metric is one series of a family (a flat name).
result<std::string> promql(const question& q, const metrics::label_set& where, naming by);

/// Where the answer begins and ends: whole steps, of which the last is not in the future.
struct range {
  std::int64_t from_s = 0, to_s = 0;  ///< Unix time
};
range range_of(const reach& over, std::int64_t now_s) noexcept;

/// Path and query for GET, below a server's `prefix` ("/prometheus" or nothing). `patience`: after that the
/// server itself shall give up.
/// Source: prometheus.io/docs/prometheus/latest/querying/api, range queries.
std::string target_of(std::string_view prefix, std::string_view promql, const range& when,
                      std::chrono::seconds step, std::chrono::seconds patience);

}  // namespace binnacle::cli::dashboard::history
