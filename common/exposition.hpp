#pragma once

#include "common/error.hpp"
#include "common/metrics/catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::exposition {

/// Bounds on what a text may make us hold. Beyond them the rest is refused by name, never half a line kept.
struct limits {
  std::size_t bytes = 4u << 20;
  std::size_t series = 10'000;
  std::size_t labels = 32;  ///< per series
  std::size_t text = 1024;  ///< bytes of a name, label value or help
};

/// One sample line, its views valid during the call only (label_set is owned).
struct sample {
  std::string_view name;
  metrics::label_set labels;
  double value = 0;  ///< may be NaN or infinite: the caller decides
  std::optional<std::int64_t> timestamp_ms;
  metrics::kind type =
      metrics::kind::gauge;  ///< from the last # TYPE line of this name; untyped counts as gauge
  std::string_view help;
};

/// Reads the Prometheus text format 0.0.4 and the OpenMetrics 1.0 superset of it (# EOF, # UNIT, exemplars
/// skipped). Histograms and summaries come out as their plain series. Calls `on_sample` in order of
/// appearance. Errors: invalid_input with the line number, what is wrong and the form expected; `on_sample`
/// may have been called for lines before it: parse into a temporary if nothing may be half applied. UTF-8 is
/// checked. Source: prometheus.io/docs/instrumenting/exposition_formats, OpenMetrics 1.0.
result<void> parse(std::string_view text, const limits& bounds,
                   const std::function<void(const sample&)>& on_sample);

/// Writes the text format: one family after another, HELP and TYPE once each, label values escaped.
class writer {
 public:
  /// Starts a family; all its series must follow before the next begin().
  void begin(std::string_view name, metrics::kind type, std::string_view help);
  void add(const metrics::label_set& labels, std::string_view value);
  void add(const metrics::label_set& labels, double value);
  void add(const metrics::label_set& labels, std::int64_t value);
  void add(const metrics::label_set& labels, std::uint64_t value);
  std::string take() { return std::move(out_); }

  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  std::string name_;
  std::string out_;
};

}  // namespace binnacle::exposition
