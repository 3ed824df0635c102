#include "aggregator/predict/pod_spec.hpp"

#include "common/text/json_members.hpp"
#include "common/text/json_reader.hpp"
#include "common/text/quantity.hpp"

#include <boost/json/monotonic_resource.hpp>

namespace binnacle::predict {
namespace {

namespace json = boost::json;

std::optional<double> cores_of(const json::object* amounts) {
  const json::value* v = amounts == nullptr ? nullptr : amounts->if_contains("cpu");
  if (v == nullptr) return std::nullopt;
  double cores = -1;
  if (const json::string* text = v->if_string()) {
    const auto amount = parse_quantity(*text);
    if (amount) cores = static_cast<double>(amount->nano) / 1e9;
  } else if (v->is_number()) {
    cores = v->to_number<double>();
  }
  return cores >= 0 ? std::optional(cores) : std::nullopt;
}

void add(const json::object& spec, std::string_view list, bool init, std::vector<container_cpu>& to) {
  for (const json::value& one : array_in(spec, list)) {
    const json::object* container = one.if_object();
    if (container == nullptr) continue;
    container_cpu c;
    if (init) {
      const bool stays = text_in(*container, "restartPolicy") == "Always";
      c.what = stays ? container_cpu::kind::sidecar : container_cpu::kind::init;
    }
    if (const json::object* resources = object_in(*container, "resources")) {
      c.request = cores_of(object_in(*resources, "requests"));
      c.limit = cores_of(object_in(*resources, "limits"));
    }
    to.push_back(c);
  }
}

}  // namespace

pod_cpu pod_cpu_of(const json::object& spec) {
  pod_cpu out;
  add(spec, "containers", false, out.containers);
  add(spec, "initContainers", true, out.containers);
  out.overhead = cores_of(object_in(spec, "overhead")).value_or(0);
  if (const json::object* resources = object_in(spec, "resources"))
    out.request = cores_of(object_in(*resources, "requests"));
  return out;
}

pod_cpu pod_cpu_of(std::string_view pod) {
  json::monotonic_resource memory;
  const auto whole = read_json(pod, &memory);
  const json::object* object = whole.has_error() ? nullptr : whole->if_object();
  const json::object* spec = object == nullptr ? nullptr : object_in(*object, "spec");
  return spec == nullptr ? pod_cpu{} : pod_cpu_of(*spec);
}

}  // namespace binnacle::predict
