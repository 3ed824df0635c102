#include "aggregator/sender/otlp_request.hpp"

#include "common/metrics/families.hpp"
#include "common/metrics/hardware_name.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>
#include <zlib.h>

namespace binnacle::sender {
namespace {

using protozero::pbf_writer;
using tag = protozero::pbf_tag_type;

// opentelemetry-proto 1: collector/metrics/v1, metrics/v1, resource/v1, common/v1.
constexpr tag request_resource_metrics = 1;
constexpr tag resource_metrics_resource = 1, resource_metrics_scope_metrics = 2;
constexpr tag resource_attribute = 1;
constexpr tag scope_metrics_scope = 1, scope_metrics_metric = 2;
constexpr tag scope_name = 1, scope_version = 2;
constexpr tag metric_name = 1, metric_description = 2, metric_unit = 3, metric_gauge = 5, metric_sum = 7;
constexpr tag data_point = 1, sum_temporality = 2, sum_is_monotonic = 3;
constexpr tag point_time = 3, point_double = 4, point_attribute = 7, point_flags = 8;
constexpr tag attribute_key = 1, attribute_value = 2, value_string = 1;
constexpr int cumulative = 2;
constexpr std::uint32_t no_recorded_value = 1;

void add_attribute(pbf_writer& to, tag field, std::string_view key, std::string_view value) {
  pbf_writer attribute(to, field);
  attribute.add_string(attribute_key, key.data(), key.size());
  pbf_writer any(attribute, attribute_value);
  any.add_string(value_string, value.data(), value.size());
}

/// `plain` in gzip's format, as Content-Encoding: gzip means it. Source: RFC 1952.
std::string gzip(const std::string& plain) {
  // A window of 15 bits is the largest; adding 16 asks for gzip's header instead of zlib's. 8 is zlib's
  // default.
  constexpr int window_bits = 15 + 16, memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();  // its only other errors are wrong arguments
  std::string out(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // the buffer has room for the whole output
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// What gzip() made, as it was before. The last four bytes say how long it was (RFC 1952, ISIZE).
std::string gunzip(const std::string& zipped) {
  std::uint32_t size = 0;
  std::memcpy(&size, zipped.data() + zipped.size() - sizeof size, sizeof size);
  std::string out(size, '\0');
  constexpr int window_bits = 15 + 16;
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
  stream.avail_in = static_cast<uInt>(zipped.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_FINISH);  // the buffer has room for the whole output
  inflateEnd(&stream);
  return out;
}

/// How many points a resource has.
std::size_t points_of(protozero::pbf_reader resource) {
  std::size_t out = 0;
  while (resource.next(resource_metrics_scope_metrics)) {
    protozero::pbf_reader scope = resource.get_message();
    while (scope.next(scope_metrics_metric)) {
      protozero::pbf_reader metric = scope.get_message();
      while (metric.next()) {
        if (metric.tag() != metric_gauge && metric.tag() != metric_sum) {
          metric.skip();
          continue;
        }
        protozero::pbf_reader points = metric.get_message();
        for (; points.next(data_point); points.skip()) ++out;
      }
    }
  }
  return out;
}

}  // namespace

otlp_request::metric& otlp_request::open_metric(std::string_view name, std::string_view description,
                                                std::string_view unit, bool sum) {
  auto at = metrics_.find(name);
  if (at == metrics_.end())
    at = metrics_.emplace(std::string(name), metric{std::string(description), unit, sum, {}}).first;
  return at->second;
}

void otlp_request::add(const point& p, std::int64_t at_ns) {
  if (p.node != node_ || p.node_uid != uid_) {
    close_node();
    node_ = p.node;
    uid_ = p.node_uid;
  }
  const bool sum = p.series.type == metrics::kind::counter;
  const auto hardware = metrics::hardware_name_of(p.series.family, p.series.labels);
  const auto* known = metrics::find(p.series.family);
  const std::string_view help = known == nullptr ? std::string_view(p.series.help) : known->help;
  metric& to = open_metric(hardware ? hardware->metric : std::string_view(p.series.family),
                           hardware ? hardware->description : help,
                           known == nullptr ? std::string_view() : metrics::ucum(known->unit), sum);
  const std::size_t before = to.points.size();
  {
    pbf_writer points(to.points);
    pbf_writer one(points, data_point);
    // In the order of the fields' numbers, as every other encoder writes them.
    const bool ended = std::bit_cast<std::uint64_t>(p.value) == std::bit_cast<std::uint64_t>(stale_marker());
    one.add_fixed64(point_time, static_cast<std::uint64_t>(at_ns));
    if (!ended) one.add_double(point_double, p.value);
    for (const auto& [name, value] : p.series.labels) add_attribute(one, point_attribute, name, value);
    if (hardware) {
      for (const auto& [name, value] : hardware->attributes) add_attribute(one, point_attribute, name, value);
    }
    if (ended) one.add_uint32(point_flags, no_recorded_value);
  }
  open_bytes_ += to.points.size() - before;
  ++samples_;
}

void otlp_request::close_node() {
  if (metrics_.empty()) return;
  pbf_writer request(body_);
  pbf_writer of_node(request, request_resource_metrics);
  {
    pbf_writer resource(of_node, resource_metrics_resource);
    add_attribute(resource, resource_attribute, "service.name", "binnacle");
    // Some servers tell series apart only by service and instance, so the instance names the node and the
    // replica.
    add_attribute(resource, resource_attribute, "service.instance.id",
                  from_.replica.empty() ? node_ : node_ + "@" + from_.replica);
    add_attribute(resource, resource_attribute, "host.name", node_);
    add_attribute(resource, resource_attribute, "k8s.node.name", node_);
    if (!uid_.empty()) add_attribute(resource, resource_attribute, "k8s.node.uid", uid_);
    if (!from_.cluster.empty())
      add_attribute(resource, resource_attribute, "k8s.cluster.name", from_.cluster);
    if (!from_.replica.empty())
      add_attribute(resource, resource_attribute, "binnacle.replica", from_.replica);
  }
  pbf_writer of_scope(of_node, resource_metrics_scope_metrics);
  {
    pbf_writer scope(of_scope, scope_metrics_scope);
    scope.add_string(scope_name, "binnacle");
    scope.add_string(scope_version, from_.version);
  }
  for (auto& [name, m] : metrics_) {
    pbf_writer one(of_scope, scope_metrics_metric);
    one.add_string(metric_name, name);
    if (!m.description.empty()) one.add_string(metric_description, m.description);
    if (!m.unit.empty()) one.add_string(metric_unit, m.unit.data(), m.unit.size());
    if (m.sum) {
      pbf_writer sum(m.points);
      sum.add_enum(sum_temporality, cumulative);
      sum.add_bool(sum_is_monotonic, true);
    }
    one.add_message(m.sum ? metric_sum : metric_gauge, m.points);
  }
  metrics_.clear();
  open_bytes_ = 0;
}

std::string otlp_request::take() {
  close_node();
  std::string out = gzip(body_);
  body_.clear();
  samples_ = 0;
  return out;
}

halves halves_of_otlp(const std::string& body) {
  const std::string plain = gunzip(body);
  std::vector<list_item> list;
  protozero::pbf_reader request(plain);
  while (request.next(request_resource_metrics)) {
    const auto view = request.get_view();
    const std::string_view message(view.data(), view.size());
    list.push_back({message, points_of(protozero::pbf_reader(message.data(), message.size())), true});
  }
  return in_halves(list, {}, request_resource_metrics, gzip);
}

}  // namespace binnacle::sender
