#include "aggregator/spread/facts.hpp"

#include <fmt/format.h>

namespace binnacle::spread {
namespace {

std::string progress(const facts& f) {
  std::string out = fmt::format("{} of {} pods to spread {} placed (replicas: {}", f.placed, f.quota,
                                f.placed == 1 ? "is" : "are", f.replicas);
  if (f.in_flight != 0) out += fmt::format(", on their way: {}", f.in_flight);
  return out + ")";
}

std::string counts(const facts& f) {
  std::string out;
  for (const facts::area& a : f.areas) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", a.name, a.pods);
  if (f.areas_left_out != 0) out += fmt::format(" and {} more", f.areas_left_out);
  return out;
}

}  // namespace

std::string_view to_string(area_kind k) noexcept {
  switch (k) {
    case area_kind::region: return "region";
    case area_kind::zone: return "zone";
    case area_kind::node: return "node";
  }
  return "node";
}

std::string_view to_string(facts::state s) noexcept {
  switch (s) {
    case facts::state::spreading: return "spreading";
    case facts::state::no_area: return "no_area";
    case facts::state::enough: return "enough";
    case facts::state::settled: return "settled";
    case facts::state::bad_rate: return "bad_rate";
    case facts::state::no_set: return "no_set";
    case facts::state::unknown_set: return "unknown_set";
  }
  return "unknown";
}

std::string text(const facts& f) {
  const std::string head = fmt::format("podspread-rate {}", f.rate);
  const std::string whose = fmt::format("{} of ReplicaSet {}: ", head, f.set);
  const std::string_view kind = to_string(f.kind);
  switch (f.is) {
    case facts::state::spreading:
      return fmt::format("{}{}, by {}: {}; only {}s with {} may have this one{}", whose, progress(f), kind,
                         counts(f), kind, f.least,
                         f.only_control_plane ? ", of the control plane, too, since no other is left" : "");
    case facts::state::no_area:
      return fmt::format("{}{}, but no candidate has the label of a {}, so any may have this one", whose,
                         progress(f), kind);
    case facts::state::enough: return fmt::format("{}{}, so any node may have this one", whose, progress(f));
    case facts::state::settled:
      return fmt::format("podspread-rate: of {}s with equally few pods and equal scores, {} goes first", kind,
                         f.goes_to);
    case facts::state::bad_rate: return fmt::format("{} counts as none: write a number from 0 to 1", head);
    case facts::state::no_set:
      return fmt::format("{} counts as none: no ReplicaSet made the pod, so its number of pods is not known",
                         head);
    case facts::state::unknown_set:
      return fmt::format("{}counts as none: this ReplicaSet is not known (binnacle status may say why)",
                         whose);
  }
  return head;
}

std::string refusal(const facts& f) {
  return fmt::format(
      "podspread-rate {} of ReplicaSet {}: its first {} pods go to the {}s with the fewest of them", f.rate,
      f.set, f.quota, to_string(f.kind));
}

std::string why(const facts& f, std::uint16_t pods) {
  const std::string_view kind = to_string(f.kind);
  if (pods == without_area) return fmt::format("it has no label that says its {}", kind);
  if (pods == control_plane) return "it is of the control plane, which the pod does not tolerate";
  if (f.kind == area_kind::node)
    return fmt::format("it has {} of the ReplicaSet's pods, and other nodes have {}", pods, f.least);
  return fmt::format("its {} has {} of the ReplicaSet's pods, and others have {}", kind, pods, f.least);
}

}  // namespace binnacle::spread
