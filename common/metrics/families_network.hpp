#pragma once

#include "common/metrics/family.hpp"

#include <array>
#include <cstddef>
#include <iterator>

/// Network interfaces: each counter and its rate. Included by families.cpp alone.
/// Source: Linux Documentation/networking/statistics.rst.
namespace binnacle::metrics::tables {

inline constexpr std::string_view network_device_kind[] = {"device", "kind"};

// A pod's packet crosses a veth, a bridge and the wire. The node's number counts it only on the wire.
inline constexpr member network_physical[] = {
    {"os_network_receive_bytes_total", "kind", "physical"},
    {"os_network_receive_bytes_per_second", "kind", "physical"},
    {"os_network_receive_packets_total", "kind", "physical"},
    {"os_network_receive_packets_per_second", "kind", "physical"},
    {"os_network_receive_errors_total", "kind", "physical"},
    {"os_network_receive_errors_per_second", "kind", "physical"},
    {"os_network_receive_dropped_total", "kind", "physical"},
    {"os_network_receive_dropped_per_second", "kind", "physical"},
    {"os_network_transmit_bytes_total", "kind", "physical"},
    {"os_network_transmit_bytes_per_second", "kind", "physical"},
    {"os_network_transmit_packets_total", "kind", "physical"},
    {"os_network_transmit_packets_per_second", "kind", "physical"},
    {"os_network_transmit_errors_total", "kind", "physical"},
    {"os_network_transmit_errors_per_second", "kind", "physical"},
    {"os_network_transmit_dropped_total", "kind", "physical"},
    {"os_network_transmit_dropped_per_second", "kind", "physical"},
};

/// Makes rows 2i (the counter) and 2i+1 (its rate) of network_physical.
consteval std::array<family, 2> network_pair(std::size_t i, bool bytes, std::string_view total_help,
                                             std::string_view rate_help) {
  const member& total = network_physical[2 * i];
  const member& rate = network_physical[2 * i + 1];
  return {{{.name = total.family,
            .unit = bytes ? "bytes" : "",
            .type = kind::counter,
            .help = total_help,
            .labels = network_device_kind,
            .rule = node_rule::sum,
            .members = {&total, 1},
            .source = "os"},
           {.name = rate.family,
            .unit = bytes ? "bytes_per_second" : "per_second",
            .help = rate_help,
            .labels = network_device_kind,
            .rule = node_rule::sum,
            .members = {&rate, 1},
            .source = "os",
            .integral = {total.family}}}};
}

inline constexpr std::array<family, 2> network_pairs[] = {
    network_pair(0, true,
                 "Bytes received by an interface; kind is physical (it has a device behind it) or virtual.",
                 "Bytes received per second since the last read."),
    network_pair(1, false, "Packets received by an interface.",
                 "Packets received per second since the last read."),
    network_pair(2, false, "Packets received with errors.",
                 "Packets received with errors per second since the last read."),
    network_pair(3, false, "Packets received and dropped.",
                 "Packets received and dropped per second since the last read."),
    network_pair(4, true, "Bytes sent by an interface.", "Bytes sent per second since the last read."),
    network_pair(5, false, "Packets sent by an interface.", "Packets sent per second since the last read."),
    network_pair(6, false, "Packets not sent because of errors.",
                 "Packets not sent because of errors, per second since the last read."),
    network_pair(7, false, "Packets dropped before sending.",
                 "Packets dropped before sending, per second since the last read."),
};

inline constexpr auto network = [] {
  std::array<family, 2 * std::size(network_pairs)> flat{};
  std::size_t next = 0;
  for (const auto& pair : network_pairs) {
    for (const family& f : pair) flat[next++] = f;
  }
  return flat;
}();

}  // namespace binnacle::metrics::tables
