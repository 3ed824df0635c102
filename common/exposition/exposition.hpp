#pragma once

#include "common/decimal.hpp"
#include "common/error.hpp"
#include "common/metrics/families.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::exposition {

/// Bounds on what a text may make us hold. A text that goes beyond one is refused with the name of that
/// bound; no line is kept in part.
struct limits {
  std::size_t bytes = 4u << 20;
  std::size_t series = 10'000;
  std::size_t labels = 32;        ///< per series
  std::size_t families = 10'000;  ///< families that # TYPE and # HELP lines describe
  std::size_t text = 1024;        ///< bytes of a name or label value; a longer help is cut
};

/// One sample line. It is valid during the call only: copy what must live longer.
struct sample {
  std::string_view name;
  metrics::label_set labels;
  double value = 0;  ///< may be NaN or infinite: the caller decides
  std::optional<std::int64_t> timestamp_ms;
  /// From the last # TYPE line of this name. Untyped and unknown count as gauges, and so does the quantile of
  /// a summary. The _bucket, _sum and _count of a histogram or summary are counters. Never kind::histogram.
  metrics::kind type = metrics::kind::gauge;
  std::string_view help;
  /// "_bucket", "_count", "_sum", "_total" or "_created" if `name` is the described family's name with that
  /// suffix.
  std::string_view part;
};

enum class form : unsigned char {
  plain,        ///< Prometheus text 0.0.4: timestamps are milliseconds; a text without a line feed at its
                ///< end was cut off, and its last number may be a part of one
  openmetrics,  ///< OpenMetrics 1.0: timestamps are seconds; a text without "# EOF" at its end was cut off
};

/// Parses the Prometheus text format 0.0.4 and its superset OpenMetrics 1.0, as the text arrives. Pieces may
/// end anywhere; at most one line is held. # UNIT and exemplars are skipped. Histograms and summaries come
/// out as their plain series, and a series that is given twice comes out twice. Names are ASCII; the quoted
/// UTF-8 names of Prometheus 3 are refused. Calls `on_sample` in order of appearance. Errors: invalid_input
/// with the line number, the fault and the form expected; overloaded with the line number if a bound is
/// exceeded. By then `on_sample` may have been called for earlier lines: parse into a temporary if nothing
/// may be half applied. After an error every further call gives that error. Independent of the locale.
/// Source: prometheus.io/docs/instrumenting/exposition_formats, OpenMetrics 1.0.
class parser {
 public:
  parser(const limits& bounds, form what, std::function<void(const sample&)> on_sample);
  ~parser();
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;

  result<void> feed(std::string_view piece);
  /// Call it when the text is complete.
  result<void> finish();

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// Parses a whole text. It counts as OpenMetrics if it ends in "# EOF".
result<void> parse(std::string_view text, const limits& bounds,
                   const std::function<void(const sample&)>& on_sample);

/// Writes the text format: one family after another, HELP and TYPE once each, label values escaped.
class writer {
 public:
  /// Starts a family; all its series must follow before the next begin(). A line feed in `help` is escaped.
  void begin(std::string_view name, metrics::kind type, std::string_view help);
  void begin(const metrics::family& f) { begin(f.name, f.type, f.help); }

  /// A series of the family. A `value` given as text must be a number. The other forms are written exactly,
  /// independent of the locale.
  void add(const metrics::label_set& labels, std::string_view value);
  void add(const metrics::label_set& labels, double value);
  void add(const metrics::label_set& labels, decimal value) {
    add(labels, std::string_view(binnacle::to_string(value)));
  }
  template <std::integral Integer>
  void add(const metrics::label_set& labels, Integer value) {
    add(labels, std::string_view(std::to_string(value)));
  }

  /// All series of one histogram. `counts` has one more element than `upper_bounds`: the last one is for
  /// values above all bounds. Each element counts its own bucket only.
  void add_histogram(const metrics::label_set& labels, std::span<const double> upper_bounds,
                     std::span<const std::uint64_t> counts, double sum);

  std::size_t bytes() const noexcept { return out_.size(); }  ///< not taken yet
  std::string take() { return std::exchange(out_, {}); }

  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  void line(std::string_view suffix, const metrics::label_set& labels, std::string_view le,
            std::string_view value);

  std::string name_;
  std::string out_;
};

}  // namespace binnacle::exposition
