#include "aggregator/exporter/write_request.hpp"

#include <protozero/pbf_writer.hpp>
#include <snappy.h>

namespace binnacle::exporter {
namespace {

// prometheus/prompb: WriteRequest.timeseries; TimeSeries.labels, .samples; Label.name, .value; Sample.value,
// .timestamp.
constexpr protozero::pbf_tag_type request_series = 1, series_label = 1, series_sample = 2, label_name = 1,
                                  label_value = 2, sample_value = 1, sample_time = 2;

}  // namespace

void write_request::add(const point& p, std::int64_t at_ns) {
  series_.clear();
  protozero::pbf_writer series(series_);
  for (const auto& [name, value] : series_labels(outside_, p)) {
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
