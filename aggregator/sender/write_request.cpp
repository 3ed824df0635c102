#include "aggregator/sender/write_request.hpp"

#include "aggregator/sender/write_request_form.hpp"

#include <protozero/pbf_writer.hpp>

namespace binnacle::sender {

void write_request::add(const point& p, std::int64_t at_ns) {
  series_.clear();
  protozero::pbf_writer series(series_);
  for (const auto& [name, value] : series_labels(outside_, p)) {
    protozero::pbf_writer label(series, version_1::series_label);
    label.add_string(version_1::label_name, name);
    label.add_string(version_1::label_value, value);
  }
  {
    protozero::pbf_writer sample(series, version_1::series_sample);
    sample.add_double(version_1::sample_value, p.value);
    sample.add_int64(version_1::sample_time, at_ns / 1'000'000);
  }
  protozero::pbf_writer(body_).add_message(version_1::request_series, series_);
  ++samples_;
}

std::string write_request::take() {
  std::string out = packed(body_);
  body_.clear();
  samples_ = 0;
  return out;
}

}  // namespace binnacle::sender
