#include "agent/sources/pmu/event_finder.hpp"

#include "agent/sources/pmu/named_events.hpp"
#include "agent/sources/pmu/pfm_events.hpp"
#include "common/text/edit_distance.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <linux/perf_event.h>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr std::size_t longest_name = 200;

// The number in "r01c2": hexadecimal, as in perf-record(1).
std::optional<std::uint64_t> raw_number(std::string_view name) {
  if (name.size() < 2 || (name[0] != 'r' && name[0] != 'R')) return std::nullopt;
  return read_number<std::uint64_t>(name.substr(1), 16);
}

// Whether the PMU `device` is meant by the name `wanted`. As in perf, "uncore_imc" also means uncore_imc_0,
// uncore_imc_1…, and so does "imc".
bool is_box_of(std::string_view device, std::string_view wanted) {
  if (!device.starts_with(wanted)) {
    constexpr std::string_view uncore = "uncore_";
    return device.starts_with(uncore) && is_box_of(device.substr(uncore.size()), wanted);
  }
  device.remove_prefix(wanted.size());
  if (device.empty()) return true;
  if (device.front() != '_') return false;
  return device.size() > 1 &&
         std::ranges::all_of(device.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

event_place place_of(const pmu_device& device, perf_encoding encoding) {
  return {encoding, device.type(), device.box_cpus() ? device.box_cpus() : device.core_cpus()};
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& names,
                                       std::size_t most) {
  const auto wanted = lowered(name);
  const auto too_far = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  std::vector<std::pair<std::size_t, const std::string*>> close;
  for (const auto& candidate : names) {
    const auto text = lowered(candidate);
    const auto colons = text.find("::");
    // People often leave out the PMU's name in front.
    const auto bare =
        colons == text.npos ? std::string_view(text) : std::string_view(text).substr(colons + 2);
    auto away = std::min(edit_distance(wanted, text, too_far), edit_distance(wanted, bare, too_far));
    if (wanted.size() >= 4 && text.find(wanted) != text.npos) away = std::min<std::size_t>(away, 1);
    if (away < too_far) close.emplace_back(away, &candidate);
  }
  std::ranges::stable_sort(close, {}, [](const auto& c) { return c.first; });
  std::vector<std::string> found;
  for (const auto& [away, candidate] : close) {
    if (found.size() == most) break;
    found.push_back(*candidate);
  }
  return found;
}

std::vector<const pmu_device*> event_finder::cores() const {
  std::vector<const pmu_device*> found;
  for (const auto& d : devices_) {
    if (d.name() == "cpu" || d.core_cpus()) found.push_back(&d);
  }
  return found;
}

event_places event_finder::on_cores(perf_encoding encoding) const {
  if (encoding.type == PERF_TYPE_SOFTWARE || encoding.type == PERF_TYPE_TRACEPOINT)
    return {{encoding, encoding.type, std::nullopt}};
  const auto kinds = cores();
  if (kinds.size() < 2) return {{encoding, PERF_TYPE_RAW, std::nullopt}};
  event_places places;
  for (const auto* d : kinds) {
    auto own = encoding;
    if (own.type == PERF_TYPE_RAW) {
      own.type = d->type();
    } else {
      // The upper half of config says which of a hybrid machine's PMUs is meant. Source: linux/perf_event.h,
      // PERF_PMU_TYPE_SHIFT.
      own.config |= std::uint64_t{d->type()} << 32;
    }
    places.push_back(place_of(*d, own));
  }
  return places;
}

result<event_places> event_finder::in_terms(std::string_view pmu, std::string_view terms) const {
  event_places places;
  for (const auto& d : devices_) {
    if (!is_box_of(d.name(), pmu)) continue;
    auto encoding = d.encode(terms);
    if (!encoding) return encoding.error();
    places.push_back(place_of(d, *encoding));
  }
  if (!places.empty()) return places;
  std::vector<std::string> names;
  for (const auto& d : devices_) names.push_back(d.name());
  return error{errc::not_found,
               fmt::format("there is no PMU \"{}\" here: there are {}", pmu,
                           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
}

result<event_places> event_finder::by_library(const std::string& name) const {
  const pfm_events library;
  const auto found = library.encode(name);
  if (!found) {
    if (found.error().code != errc::not_found) return found.error();
    std::vector<std::string> names;
    for (const auto& e : named_events()) names.emplace_back(e.name);
    for (const auto* d : cores()) {
      for (auto& alias : d->alias_names()) names.push_back(std::move(alias));
    }
    for (auto& event : library.names()) names.push_back(std::move(event));
    const auto near = nearest_names(name, names, 3);
    const auto remedy = near.empty()
                            ? std::string("write a name of perf list, r0123 or pmu/event=0x12,umask=0x34/")
                            : fmt::format("did you mean {}?", fmt::join(near, ", "));
    return error{errc::not_found, fmt::format("there is no event \"{}\" here: {}", name, remedy)};
  }
  if (!found->outside_cores) return on_cores(found->encoding);
  for (const auto& d : devices_) {
    if (d.type() == found->encoding.type) return event_places{place_of(d, found->encoding)};
  }
  return error{
      errc::unsupported,
      fmt::format("the PMU of \"{}\" is not below sys-root, so its CPUs are unknown: check sys-root", name)};
}

result<event_places> event_finder::find(std::string_view name) const {
  name = trimmed(name);
  if (name.empty() || name.size() > longest_name) {
    return error{errc::invalid_input, "an event's name is empty or longer than 200 bytes: mend pmu-events"};
  }
  if (const auto* known = find_named_event(name)) return on_cores(known->encoding);
  if (const auto number = raw_number(name)) return on_cores({.type = PERF_TYPE_RAW, .config = *number});
  if (const auto slash = name.find('/'); slash != name.npos) {
    if (slash == 0 || !name.ends_with('/') || slash + 1 == name.size() ||
        name.find('/', slash + 1) != name.size() - 1) {
      return error{
          errc::invalid_input,
          fmt::format("\"{}\" is not an event: write pmu/terms/, as cpu/event=0xc2,umask=0x01/", name)};
    }
    return in_terms(name.substr(0, slash), name.substr(slash + 1, name.size() - slash - 2));
  }
  event_places named_by_kernel;
  for (const auto* d : cores()) {
    if (!d->alias(std::string(name))) continue;
    if (const auto encoding = d->encode(name)) named_by_kernel.push_back(place_of(*d, *encoding));
  }
  if (!named_by_kernel.empty()) return named_by_kernel;
  return by_library(std::string(name));
}

}  // namespace binnacle::agent
