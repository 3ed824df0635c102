#include "aggregator/exporter/write_request.hpp"

#include "common/exposition/target_labels.hpp"

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <snappy.h>
#include <utility>

namespace binnacle::exporter {
namespace {

// prometheus/prompb: WriteRequest.timeseries; TimeSeries.labels, .samples; Label.name, .value; Sample.value,
// .timestamp.
constexpr protozero::pbf_tag_type request_series = 1, series_label = 1, series_sample = 2, label_name = 1,
                                  label_value = 2, sample_value = 1, sample_time = 2;

}  // namespace

write_request::write_request(const origin& from) {
  if (!from.cluster.empty()) outside_.emplace_back("cluster", from.cluster);
  if (!from.replica.empty()) outside_.emplace_back("replica", from.replica);
}

void write_request::add(const point& p, std::int64_t at_ns) {
  metrics::label_set target = outside_;
  target.emplace_back("node", p.node);
  metrics::label_set labels = exposition::with_target(std::move(target), p.series.labels);
  labels.emplace_back("__name__", p.series.family);
  std::ranges::sort(labels);

  series_.clear();
  protozero::pbf_writer series(series_);
  for (const auto& [name, value] : labels) {
    protozero::pbf_writer label(series, series_label);
    label.add_string(label_name, name);
    label.add_string(label_value, value);
  }
  {
    protozero::pbf_writer sample(series, series_sample);
    sample.add_double(sample_value, p.value);
    sample.add_int64(sample_time, at_ns / 1'000'000);
  }
  protozero::pbf_writer(body_).add_message(request_series, series_);
  ++samples_;
}

std::string write_request::take() {
  std::string out;
  snappy::Compress(body_.data(), body_.size(), &out);
  body_.clear();
  samples_ = 0;
  return out;
}

}  // namespace binnacle::exporter
