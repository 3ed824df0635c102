#include "aggregator/policy/strategies.hpp"
#include "aggregator/snapshot/snapshot.capnp.h"
#include "aggregator/snapshot/snapshot.hpp"

#include <capnp/message.h>
#include <capnp/serialize-packed.h>
#include <fmt/format.h>
#include <kj/exception.h>
#include <kj/io.h>

#include <algorithm>
#include <utility>

namespace binnacle::aggregator {
namespace {

constexpr std::uint16_t version = 1;
// A word that is followed twice counts twice; nothing is.
constexpr capnp::ReaderOptions bounds{.traversalLimitInWords = most_snapshot_bytes / sizeof(capnp::word),
                                      .nestingLimit = 8};

std::string text(capnp::Text::Reader t) { return {t.cStr(), t.size()}; }

/// An instant that can be shifted, and compared with others, without overflow.
bool believable(std::int64_t ns) {
  return ns >= -store::word_reader::longest.count() && ns <= store::word_reader::longest.count();
}

error malformed(std::string_view what) {
  return {errc::invalid_input, fmt::format("not a snapshot that this version can read: {}", what)};
}

result<snapshot> read(schema::Snapshot::Reader in) {
  if (in.getVersion() != version) return malformed(fmt::format("its version is {}", in.getVersion()));
  snapshot out;
  out.boot_id = text(in.getBootId());
  if (in.getWallNs() < 0 || !believable(in.getBootNs()))
    return malformed("it was taken in no machine's time");
  out.taken = from_ns(in.getBootNs());
  out.taken_wall = std::chrono::system_clock::time_point(std::chrono::nanoseconds(in.getWallNs()));
  for (const auto c : in.getColumns()) {
    snapshot::column& column = out.columns.emplace_back();
    column.spec.metric = text(c.getMetric());
    column.spec.window = duration(c.getWindowNs());
    column.meaning = text(c.getMeaning());
    if (c.getStatistic() > static_cast<std::uint8_t>(store::statistic::trend))
      return malformed("a column of an unknown statistic");
    column.spec.stat = static_cast<store::statistic>(c.getStatistic());
  }
  for (const auto s : in.getStrategies()) {
    policy::strategy_mark& mark = out.strategies.emplace_back();
    mark.key = {text(s.getNamespace()), text(s.getName())};
    mark.content = s.getContent();
    if (s.getGiven() && !believable(s.getLastGivenNs()))
      return malformed("a label went on in no machine's time");
    if (s.getGiven()) mark.last_given = from_ns(s.getLastGivenNs());
    const auto kinds = policy::strategies();
    const auto kind =
        std::ranges::find_if(kinds, [&](const auto* d) { return text(s.getKind()) == d->name; });
    if (kind == kinds.end())
      return malformed(fmt::format("a strategy of an unknown kind, {}", text(s.getKind())));
    mark.kind = (*kind)->kind;
  }
  for (const auto n : in.getNodes()) {
    snapshot::node& node = out.nodes.emplace_back();
    node.name = text(n.getName());
    const auto words = n.getWords();
    node.words.reserve(words.size());
    for (const std::int64_t w : words) node.words.push_back(w);
    for (const auto l : n.getLabels()) node.labels.emplace(text(l.getKey()), text(l.getValue()));
  }
  return out;
}

/// What packing can make of a word at worst: tag, eight bytes, run length; and room for its copy.
constexpr std::size_t worst_packed_word = 10, packing_slack = 32;

}  // namespace

namespace {

/// Within one boot the instants need no translation. A boot without an id is like no other.
bool same_boot(const snapshot& s, const clocks& now) noexcept {
  return !s.boot_id.empty() && s.boot_id == now.boot_id && s.taken <= now.boot;
}

}  // namespace

duration age_of(const snapshot& s, const clocks& now) noexcept {
  if (same_boot(s, now)) return now.boot - s.taken;
  return std::max(std::chrono::duration_cast<duration>(now.wall - s.taken_wall), duration::zero());
}

duration shift_of(const snapshot& s, const clocks& now) noexcept {
  return same_boot(s, now) ? duration::zero() : now.boot - age_of(s, now) - s.taken;
}

std::vector<std::byte> encode(const snapshot& s) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schema::Snapshot>();
  root.setVersion(version);
  root.setBootId(s.boot_id.c_str());
  root.setBootNs(to_ns(s.taken));
  root.setWallNs(
      std::chrono::duration_cast<std::chrono::nanoseconds>(s.taken_wall.time_since_epoch()).count());
  auto columns = root.initColumns(static_cast<unsigned>(s.columns.size()));
  for (unsigned i = 0; i < columns.size(); ++i) {
    columns[i].setMetric(s.columns[i].spec.metric.c_str());
    columns[i].setWindowNs(s.columns[i].spec.window.count());
    columns[i].setStatistic(static_cast<std::uint8_t>(s.columns[i].spec.stat));
    columns[i].setMeaning(s.columns[i].meaning.c_str());
  }
  auto strategies = root.initStrategies(static_cast<unsigned>(s.strategies.size()));
  for (unsigned i = 0; i < strategies.size(); ++i) {
    const policy::strategy_mark& mark = s.strategies[i];
    strategies[i].setNamespace(mark.key.name_space.c_str());
    strategies[i].setName(mark.key.name.c_str());
    strategies[i].setKind(std::string(policy::description_of(mark.kind).name).c_str());
    strategies[i].setContent(mark.content);
    strategies[i].setGiven(mark.last_given.has_value());
    strategies[i].setLastGivenNs(mark.last_given ? to_ns(*mark.last_given) : 0);
  }
  auto nodes = root.initNodes(static_cast<unsigned>(s.nodes.size()));
  for (unsigned i = 0; i < nodes.size(); ++i) {
    const snapshot::node& n = s.nodes[i];
    nodes[i].setName(n.name.c_str());
    auto words = nodes[i].initWords(static_cast<unsigned>(n.words.size()));
    for (unsigned w = 0; w < words.size(); ++w) words.set(w, n.words[w]);
    auto labels = nodes[i].initLabels(static_cast<unsigned>(n.labels.size()));
    unsigned l = 0;
    for (const auto& [key, value] : n.labels) {
      labels[l].setKey(key.c_str());
      labels[l++].setValue(value.c_str());
    }
  }
  const auto segments = message.getSegmentsForOutput();
  std::vector<std::byte> out(capnp::computeSerializedSizeInWords(segments) * worst_packed_word +
                             packing_slack);
  kj::ArrayOutputStream stream(kj::arrayPtr(reinterpret_cast<kj::byte*>(out.data()), out.size()));
  capnp::writePackedMessage(stream, segments);
  out.resize(stream.getArray().size());
  return out;
}

result<snapshot> decode(std::span<const std::byte> bytes) {
  try {
    const kj::ArrayPtr<const kj::byte> packed(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size());
    // Before anything is unpacked: a small file may claim to be a large message.
    if (capnp::computeUnpackedSizeInWords(packed) > bounds.traversalLimitInWords)
      return malformed(fmt::format("it unpacks to more than {} MiB", most_snapshot_bytes >> 20));
    kj::ArrayInputStream stream(packed);
    capnp::PackedMessageReader message(stream, bounds);
    return read(message.getRoot<schema::Snapshot>());
  } catch (const kj::Exception& e) {
    return malformed(e.getDescription().cStr());
  }
}

}  // namespace binnacle::aggregator
