#include "aggregator/sender/write_request_2.hpp"

#include "aggregator/sender/write_request_form.hpp"
#include "common/metrics/families.hpp"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <snappy.h>
#include <utility>
#include <vector>

namespace binnacle::sender {
namespace {

namespace v2 {
// prometheus/prompb/io/prometheus/write/v2/types.proto.
constexpr protozero::pbf_tag_type request_symbol = 4, request_series = 5, series_labels = 1,
                                  series_sample = 2, series_metadata = 5, sample_value = 1, sample_time = 2,
                                  metadata_type = 1, metadata_help = 3, metadata_unit = 4;
constexpr int type_counter = 1, type_gauge = 2;
}  // namespace v2

}  // namespace

write_request_2::write_request_2(const origin& from) : outside_(outside_labels(from)) {
  symbol("");  // the protocol wants it first
}

std::uint32_t write_request_2::symbol(std::string_view text) {
  const auto [at, is_new] =
      places_.try_emplace(std::string(text), static_cast<std::uint32_t>(places_.size()));
  if (is_new) protozero::pbf_writer(symbols_).add_string(v2::request_symbol, text.data(), text.size());
  return at->second;
}

void write_request_2::add(const point& p, std::int64_t at_ns) {
  std::vector<std::uint32_t> labels;
  for (const auto& [name, value] : series_labels(outside_, p)) {
    labels.push_back(symbol(name));
    labels.push_back(symbol(value));
  }
  const auto* known = metrics::find(p.series.family);
  const std::uint32_t help = symbol(known == nullptr ? std::string_view(p.series.help) : known->help);
  const std::uint32_t unit = symbol(known == nullptr ? std::string_view() : known->unit);

  protozero::pbf_writer request(series_);
  protozero::pbf_writer series(request, v2::request_series);
  series.add_packed_uint32(v2::series_labels, labels.begin(), labels.end());
  {
    protozero::pbf_writer sample(series, v2::series_sample);
    sample.add_double(v2::sample_value, p.value);
    sample.add_int64(v2::sample_time, at_ns / 1'000'000);
  }
  protozero::pbf_writer metadata(series, v2::series_metadata);
  metadata.add_enum(v2::metadata_type,
                    p.series.type == metrics::kind::counter ? v2::type_counter : v2::type_gauge);
  metadata.add_uint32(v2::metadata_help, help);
  metadata.add_uint32(v2::metadata_unit, unit);
  ++samples_;
}

std::string write_request_2::take() {
  std::string out = packed(symbols_ + series_);
  places_.clear();
  symbols_.clear();
  series_.clear();
  samples_ = 0;
  symbol("");
  return out;
}

std::string as_version_1(const std::string& body) {
  const std::string plain = unpacked(body);
  std::string out;
  std::vector<std::string_view> symbols;
  protozero::pbf_reader request(plain);
  protozero::pbf_writer written(out);
  while (request.next()) {
    if (request.tag() == v2::request_symbol) {
      const auto text = request.get_view();
      symbols.emplace_back(text.data(), text.size());
      continue;
    }
    protozero::pbf_writer series(written, version_1::request_series);
    protozero::pbf_reader old = request.get_message();
    while (old.next()) {
      switch (old.tag()) {
        case v2::series_labels: {
          const auto places = old.get_packed_uint32();
          for (auto at = places.begin(); at != places.end(); ++at) {
            protozero::pbf_writer label(series, version_1::series_label);
            const std::string_view name = symbols.at(*at++), value = symbols.at(*at);
            label.add_string(version_1::label_name, name.data(), name.size());
            label.add_string(version_1::label_value, value.data(), value.size());
          }
          break;
        }
        case v2::series_sample: {  // has the same form in both
          const auto sample = old.get_view();
          series.add_message(version_1::series_sample, sample.data(), sample.size());
          break;
        }
        default: old.skip();
      }
    }
  }
  return packed(out);
}

halves halves_of_version_2(const std::string& body) {
  const std::string plain = unpacked(body);
  std::vector<std::string_view> symbols;
  std::string listed;
  protozero::pbf_writer lists(listed);
  std::vector<list_item> list;
  std::uint32_t node = 0;  // the place of its name
  protozero::pbf_reader request(plain);
  while (request.next()) {
    const bool is_symbol = request.tag() == v2::request_symbol;  // get_view() forgets the tag
    const auto view = request.get_view();
    const std::string_view message(view.data(), view.size());
    if (is_symbol) {
      symbols.push_back(message);
      lists.add_string(v2::request_symbol, message.data(), message.size());
      continue;
    }
    protozero::pbf_reader series(message.data(), message.size());
    series.next(v2::series_labels);
    const auto places = series.get_packed_uint32();
    std::uint32_t of = 0;
    for (auto at = places.begin(); at != places.end(); ++at) {
      const bool is_node = symbols.at(*at++) == "node";
      if (is_node) of = *at;
    }
    list.push_back({message, 1, list.empty() || of != node});
    node = of;
  }
  return in_halves(list, listed, v2::request_series, packed);
}

}  // namespace binnacle::sender
