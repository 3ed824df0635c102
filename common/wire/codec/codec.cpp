#include "common/wire/codec/codec.hpp"

#include "common/text/text.hpp"
#include "common/text/utf8.hpp"
#include "common/wire/codec/catalog_codec.hpp"
#include "common/wire/codec/payload.hpp"
#include "common/wire/names.hpp"
#include "common/wire/telemetry.capnp.h"

#include <algorithm>
#include <limits>

namespace binnacle::wire {
namespace {

using detail::append_root;
using detail::text;
using detail::view;
using detail::with_root;

/// For texts that only people read. Such a text is never a reason to refuse a message: it is cut if it is too
/// long, left out if it is not UTF-8, and each character that controls a terminal becomes a question mark.
std::string for_people(std::string_view s) {
  const std::string_view cut = clip(s, max_text);
  return valid_utf8(cut) ? printable(cut) : std::string("(not UTF-8)");
}

bool short_and_clean(std::string_view s, std::size_t limit) { return s.size() <= limit && valid_utf8(s); }

outcome<void> check(const hello& m) {
  if (!valid_node_name(m.node))
    return fault{reason::bad_hello,
                 "a hello whose node is not a node name (letters, digits, '-', '.', '_', at most 253)"};
  if (m.boot_id.empty() || !short_and_clean(m.boot_id, max_name))
    return fault{reason::bad_hello, "a hello without a usable boot id"};
  if (!short_and_clean(m.cluster, max_name))
    return fault{reason::bad_hello, "a hello whose cluster name is too long or not UTF-8"};
  if (m.credential.size() > max_credential)
    return fault{reason::bad_hello, "a hello whose credential is larger than 16 KiB"};
  return {};
}

outcome<message> read(schema::Hello::Reader in) {
  hello m;
  m.protocol_major = in.getProtocolMajor();
  m.protocol_minor = in.getProtocolMinor();
  m.agent_version = for_people(view(in.getAgentVersion()));
  m.cluster = view(in.getCluster());
  m.node = view(in.getNode());
  m.boot_id = view(in.getBootId());
  m.credential = view(in.getCredential());
  m.process = in.getProcess();
  if (auto fine = check(m); fine.has_error()) return fine.error();
  return message(std::move(m));
}

outcome<message> read(schema::Welcome::Reader in) {
  welcome m{in.getProtocolMajor(), in.getProtocolMinor(), std::string(view(in.getReplicaId())),
            in.getReplicas(), in.getReauthenticateAfterS()};
  if (!short_and_clean(m.replica_id, max_name))
    return fault{reason::bad_message, "a welcome whose replica id is too long or not UTF-8"};
  return message(std::move(m));
}

outcome<message> read(schema::Refused::Reader in) {
  return message(refused{for_people(view(in.getReason())), in.getRetryAfterMs()});
}
outcome<message> read(schema::Goodbye::Reader in) {
  return message(goodbye{for_people(view(in.getReason()))});
}

outcome<message> read(schema::Clock::Reader in) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 1000;
  if (in.getAggregatorUs() > most || in.getAgentUs() > most)
    return fault{reason::bad_message, "a clock of more than 292 years"};
  return message(clock_reading{static_cast<std::int64_t>(in.getAggregatorUs()),
                               static_cast<std::int64_t>(in.getAgentUs())});
}

outcome<message> read(schema::Catalog::Reader in, omissions& left_out) {
  auto c = detail::read(in, left_out);
  if (c.has_error()) return c.error();
  return message(std::move(*c));
}

outcome<message> read(schema::StatusReport::Reader in, omissions& left_out) {
  const auto sources = in.getSources();
  const auto looked_at = static_cast<unsigned>(std::min<std::size_t>(sources.size(), max_statuses));
  std::vector<source_status> m;
  m.reserve(looked_at);
  for (unsigned i = 0; i < looked_at; ++i)
    m.push_back({for_people(view(sources[i].getSource())), sources[i].getOk(),
                 for_people(view(sources[i].getMessage()))});
  if (sources.size() > looked_at)
    left_out.add({reason::oversized, "a status report on more than 256 sources"}, sources.size() - looked_at);
  return message(std::move(m));
}

outcome<message> read(schema::Interest::Reader in, omissions& left_out) {
  const auto wishes = in.getWishes();
  const auto looked_at = static_cast<unsigned>(std::min<std::size_t>(wishes.size(), max_wishes));
  interest m;
  m.wishes.reserve(looked_at);
  for (unsigned i = 0; i < looked_at; ++i) {
    const std::string_view family = view(wishes[i].getFamily());
    if (valid_metric_name(family)) {
      m.wishes.push_back({std::string(family), std::max<std::uint32_t>(wishes[i].getPeriodMs(), 1)});
    } else {
      left_out.add({reason::bad_message, "a wish for " + in_quotes(family) + ", which is not a metric name"});
    }
  }
  if (wishes.size() > looked_at)
    left_out.add({reason::oversized, "an interest of more than 1,024 wishes"}, wishes.size() - looked_at);
  return message(std::move(m));
}

template <class Root>
outcome<message> decode_as(const frame_view& frame, scratch& space, omissions& left_out) {
  outcome<message> decoded = fault{};
  const auto done = with_root<Root>(frame, space, [&](typename Root::Reader in) -> outcome<void> {
    if constexpr (requires { read(in, left_out); }) {
      decoded = read(in, left_out);
    } else {
      decoded = read(in);
    }
    return {};
  });
  space.rest();
  if (done.has_error()) return done.error();
  return decoded;
}

}  // namespace

outcome<void> append(bytes& out, const hello& m) {
  if (auto fine = check(m); fine.has_error()) return fine;
  return append_root<schema::Hello>(out, frame_kind::hello, [&](schema::Hello::Builder to) {
    to.setProtocolMajor(m.protocol_major);
    to.setProtocolMinor(m.protocol_minor);
    to.setAgentVersion(text(for_people(m.agent_version)));
    to.setCluster(text(m.cluster));
    to.setNode(text(m.node));
    to.setBootId(text(m.boot_id));
    to.setCredential(text(m.credential));
    to.setProcess(m.process);
  });
}

outcome<void> append(bytes& out, const welcome& m) {
  if (!short_and_clean(m.replica_id, max_name))
    return fault{reason::bad_message, "a replica id that is too long or not UTF-8"};
  return append_root<schema::Welcome>(out, frame_kind::welcome, [&](schema::Welcome::Builder to) {
    to.setProtocolMajor(m.protocol_major);
    to.setProtocolMinor(m.protocol_minor);
    to.setReplicaId(text(m.replica_id));
    to.setReplicas(m.replicas);
    to.setReauthenticateAfterS(m.reauthenticate_after_s);
  });
}

outcome<void> append(bytes& out, const refused& m) {
  return append_root<schema::Refused>(out, frame_kind::refused, [&](schema::Refused::Builder to) {
    to.setReason(text(for_people(m.reason)));
    to.setRetryAfterMs(m.retry_after_ms);
  });
}

outcome<void> append(bytes& out, const goodbye& m) {
  return append_root<schema::Goodbye>(out, frame_kind::goodbye, [&](schema::Goodbye::Builder to) {
    to.setReason(text(for_people(m.reason)));
  });
}

outcome<void> append(bytes& out, const clock_reading& m) {
  return append_root<schema::Clock>(out, frame_kind::clock, [&](schema::Clock::Builder to) {
    to.setAggregatorUs(static_cast<std::uint64_t>(m.aggregator_us));
    to.setAgentUs(static_cast<std::uint64_t>(m.agent_us));
  });
}

outcome<void> append(bytes& out, const catalog& m) {
  if (auto fine = check(m); fine.has_error()) return fine;
  return append_root<schema::Catalog>(out, frame_kind::catalog,
                                      [&](schema::Catalog::Builder to) { detail::fill(to, m); });
}

outcome<void> append(bytes& out, const std::vector<source_status>& m) {
  return append_root<schema::StatusReport>(out, frame_kind::status, [&](schema::StatusReport::Builder to) {
    auto sources = to.initSources(static_cast<unsigned>(std::min(m.size(), max_statuses)));
    for (unsigned i = 0; i < sources.size(); ++i) {
      sources[i].setSource(text(for_people(m[i].source)));
      sources[i].setOk(m[i].ok);
      sources[i].setMessage(text(for_people(m[i].message)));
    }
  });
}

// A wish that is not a metric name is left out: an agent of 1.2 or less ends its session over it.
outcome<void> append(bytes& out, const interest& m) {
  std::vector<const interest::wish*> sound;
  for (const interest::wish& w : m.wishes)
    if (valid_metric_name(w.family)) sound.push_back(&w);
  if (sound.size() > max_wishes) return fault{reason::oversized, "an interest with more than 1,024 wishes"};
  return append_root<schema::Interest>(out, frame_kind::interest, [&](schema::Interest::Builder to) {
    auto wishes = to.initWishes(static_cast<unsigned>(sound.size()));
    for (unsigned i = 0; i < wishes.size(); ++i) {
      wishes[i].setFamily(text(sound[i]->family));
      wishes[i].setPeriodMs(sound[i]->period_ms);
    }
  });
}

outcome<message> decode(const frame_view& frame, scratch& space, omissions& left_out) {
  switch (frame.kind) {
    case frame_kind::hello: return decode_as<schema::Hello>(frame, space, left_out);
    case frame_kind::welcome: return decode_as<schema::Welcome>(frame, space, left_out);
    case frame_kind::refused: return decode_as<schema::Refused>(frame, space, left_out);
    case frame_kind::catalog: return decode_as<schema::Catalog>(frame, space, left_out);
    case frame_kind::status: return decode_as<schema::StatusReport>(frame, space, left_out);
    case frame_kind::interest: return decode_as<schema::Interest>(frame, space, left_out);
    case frame_kind::goodbye: return decode_as<schema::Goodbye>(frame, space, left_out);
    case frame_kind::clock: return decode_as<schema::Clock>(frame, space, left_out);
    default:
      return fault{
          reason::unexpected_message,
          "a frame of kind " + std::to_string(static_cast<unsigned>(frame.kind)) + " has no place here"};
  }
}

}  // namespace binnacle::wire
