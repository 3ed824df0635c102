#pragma once

#include "common/wire/agent_session.hpp"
#include "common/wire/aggregator_session.hpp"
#include "common/wire/codec/batch_codec.hpp"
#include "common/wire/codec/codec.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

/// Helpers for the tests of this room: they print and compare messages, and make catalogs and nodes.
namespace binnacle {
inline std::ostream& operator<<(std::ostream& out, absence a) { return out << to_string(a); }
}  // namespace binnacle

namespace binnacle::wire {

inline std::ostream& operator<<(std::ostream& out, reason r) { return out << to_string(r); }
inline std::ostream& operator<<(std::ostream& out, aggregator_session::event e) {
  static constexpr const char* names[] = {"nothing",  "hello", "catalog",  "batch",
                                          "statuses", "clock", "left_out", "ended"};
  return out << names[static_cast<int>(e)];
}
inline std::ostream& operator<<(std::ostream& out, agent_session::event e) {
  static constexpr const char* names[] = {"nothing",  "welcomed",       "renewed",
                                          "interest", "credential_due", "ended"};
  return out << names[static_cast<int>(e)];
}

inline bool operator==(const group_info& a, const group_info& b) {
  return std::tie(a.source, a.name, a.period_ms, a.stale_after_ms) ==
         std::tie(b.source, b.name, b.period_ms, b.stale_after_ms);
}
inline bool operator==(const series_info& a, const series_info& b) {
  return std::tie(a.family, a.labels, a.exponent, a.type, a.group, a.help) ==
         std::tie(b.family, b.labels, b.exponent, b.type, b.group, b.help);
}
inline bool operator==(const series_value& a, const series_value& b) {
  return a.series == b.series && a.mantissa == b.mantissa;
}
inline bool operator==(const series_absence& a, const series_absence& b) {
  return a.series == b.series && a.reason == b.reason;
}
inline bool operator==(const group_read& a, const group_read& b) {
  return a.group == b.group && a.read_at_ns == b.read_at_ns;
}
inline bool operator==(const source_status& a, const source_status& b) {
  return std::tie(a.source, a.ok, a.message) == std::tie(b.source, b.ok, b.message);
}

inline std::ostream& operator<<(std::ostream& out, const series_value& v) {
  return out << v.series << "=" << v.mantissa;
}
inline std::ostream& operator<<(std::ostream& out, const series_absence& a) {
  return out << a.series << ":" << a.reason;
}
inline std::ostream& operator<<(std::ostream& out, const group_read& r) {
  return out << r.group << "@" << r.read_at_ns;
}

}  // namespace binnacle::wire

namespace binnacle::wire::test {

using namespace std::chrono_literals;

inline constexpr instant start = instant(1h);

/// A catalog of `n` series in `groups` groups, with ten series per family.
inline catalog plain_catalog(std::size_t n, std::size_t groups = 1, std::uint32_t version = 1) {
  catalog c;
  c.version = version;
  for (std::size_t g = 0; g < groups; ++g)
    c.groups.push_back({"source" + std::to_string(g), "", 1000, 10'000});
  for (std::size_t i = 0; i < n; ++i)
    c.series.push_back({"family_" + std::to_string(i / 10),
                        {{"index", std::to_string(i)}},
                        -1,
                        metrics::kind::gauge,
                        static_cast<std::uint16_t>(i % groups),
                        ""});
  return c;
}

inline hello plain_hello(std::string node = "node-1") {
  hello h;
  h.agent_version = "0.1.0";
  h.node = std::move(node);
  h.boot_id = "5f0c3a52-2f35-4e6c-9a0e-3f1d3f6a7b11";
  return h;
}

/// Copies of the frames in `data`.
inline std::vector<bytes> split(const bytes& data) {
  std::vector<bytes> frames;
  frame_reader reader;
  reader.feed(data);
  for (auto f = reader.next(); f.has_value() && f->has_value(); f = reader.next()) {
    const auto payload = (*f)->payload;
    frames.emplace_back(payload.data() - frame_header_size, payload.data() + payload.size());
  }
  return frames;
}

/// The first frame in the reader's buffer; the test fails if there is none.
inline frame_view first(frame_reader& reader) {
  auto f = reader.next();
  REQUIRE(f.has_value());
  REQUIRE(f->has_value());
  return **f;
}

/// decode() of the one frame in `data`; what decode() leaves out is counted in `left_out`.
inline outcome<message> decode_bytes(const bytes& data, omissions& left_out) {
  frame_reader reader;
  reader.feed(data);
  scratch space;
  const auto f = reader.next();
  if (f.has_error()) return f.error();
  if (!f->has_value()) return fault{reason::none, "incomplete"};
  return decode(**f, space, left_out);
}
inline outcome<message> decode_bytes(const bytes& data) {
  omissions left_out;
  return decode_bytes(data, left_out);
}

}  // namespace binnacle::wire::test
