#include "aggregator/sender/write_request.hpp"

#include "aggregator/sender/write_request_form.hpp"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <vector>

namespace binnacle::sender {
namespace {

/// The value of the label `node` of a series in version 1.0.
std::string_view node_in_version_1(std::string_view of_series) {
  protozero::pbf_reader series(of_series.data(), of_series.size());
  while (series.next(version_1::series_label)) {
    protozero::pbf_reader label = series.get_message();
    std::string_view name, value;
    while (label.next()) {
      std::string_view& to = label.tag() == version_1::label_name ? name : value;
      const auto text = label.get_view();
      to = std::string_view(text.data(), text.size());
    }
    if (name == "node") return value;
  }
  return {};
}

}  // namespace

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

halves halves_of_version_1(const std::string& body) {
  const std::string plain = unpacked(body);
  std::vector<list_item> list;
  std::string_view node;
  protozero::pbf_reader request(plain);
  while (request.next(version_1::request_series)) {
    const auto series = request.get_view();
    const std::string_view message(series.data(), series.size());
    const std::string_view of = node_in_version_1(message);
    list.push_back({message, 1, list.empty() || of != node});
    node = of;
  }
  return in_halves(list, {}, version_1::request_series, packed);
}

}  // namespace binnacle::sender
