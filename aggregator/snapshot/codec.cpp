// A core's state as bytes.
//
// Half of it is plain (columns, strategies, policies, names: snapshot.capnp), half is words: runs of whole
// numbers that each class of the core writes and reads itself. This file knows nothing of what the words
// mean. It bounds them, and the readers of words check them (store::word_reader).
//
// The bytes come from a file that anybody with the folder may have written, from another version, or from
// another replica. So nothing is believed:
// - A small file may unpack to a large message. The size is computed before anything is unpacked.
// - Instants may be any number. Those that no machine can have are refused, because they are shifted and
//   compared later, which must not overflow.
// - It may name a statistic or a kind of strategy that only another release knows. That costs only itself: it
//   keeps its place in the list, since nodes' words count places, but has no name that anybody asks for.
// - A list may be longer than it says, or end early. The number of nodes stands in the first message, and
//   all of them must be there. Half a snapshot is not used: a node whose state is missing would begin as if
//   it had never violated anything.
//
// It is written as several messages of a quarter MiB, and each node's memory is freed when it has been
// written. With one message for a fleet of 5,000 nodes the state would be in memory twice, and a third
// time packed.

#include "aggregator/policy/strategies.hpp"
#include "aggregator/snapshot/snapshot.capnp.h"
#include "aggregator/snapshot/snapshot.hpp"
#include "common/wire/limits.hpp"

#include <capnp/message.h>
#include <capnp/serialize-packed.h>
#include <fmt/format.h>
#include <kj/exception.h>
#include <kj/io.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace binnacle::aggregator {
namespace {

constexpr std::uint16_t version = 2, in_one_message = 1;
// More than max-nodes can be.
constexpr std::uint32_t most_nodes = 200'000;
// Cap'n Proto counts a word each time that a pointer to it is followed. The reader follows each pointer once.
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
  if (in.getVersion() != version && in.getVersion() != in_one_message)
    return malformed(fmt::format("its version is {}", in.getVersion()));
  snapshot out;
  out.boot_id = text(in.getBootId());
  if (in.getWallNs() < 0 || !believable(in.getBootNs()))
    return malformed("it was taken in no machine's time");
  out.taken = from_ns(in.getBootNs());
  out.taken_wall = std::chrono::system_clock::time_point(std::chrono::nanoseconds(in.getWallNs()));
  out.says_heard = in.getSaysHeard();
  for (const auto c : in.getColumns()) {
    snapshot::column& column = out.columns.emplace_back();
    if (c.getStatistic() >= store::statistic_names.size()) continue;  // it keeps its place, without a name
    column.spec.metric = text(c.getMetric());
    column.spec.window = duration(c.getWindowNs());
    column.meaning = text(c.getMeaning());
    column.spec.stat = static_cast<store::statistic>(c.getStatistic());
  }
  for (const auto s : in.getStrategies()) {
    policy::strategy_mark& mark = out.strategies.emplace_back();
    const auto kinds = policy::strategies();
    const auto kind =
        std::ranges::find_if(kinds, [&](const auto* d) { return text(s.getKind()) == d->name; });
    if (kind == kinds.end()) continue;  // it keeps its place, without a name
    mark.kind = (*kind)->kind;
    mark.key = {text(s.getNamespace()), text(s.getName())};
    mark.uid = text(s.getUid());
    mark.content = s.getContent();
    mark.disowned = s.getDisowned();
    if (s.getGiven() && !believable(s.getLastGivenNs()))
      return malformed("a label went on in no machine's time");
    if (s.getGiven()) mark.last_given = from_ns(s.getLastGivenNs());
  }
  for (const auto p : in.getPolicies()) {
    if (out.policies.size() == most_kept_policies) break;
    auto value = policy::policy_of_manifest(text(p.getManifest()));
    if (value) out.policies.push_back({std::move(*value), text(p.getSource()), p.getRead(), p.getInForce()});
  }
  return out;
}

/// None: no machine can be there, or can have been then.
std::optional<snapshot::tenant> read(schema::Tenant::Reader in) {
  snapshot::tenant out;
  const auto address = in.getAddress();
  if (address.size() != out.address.bytes.size() || in.getBootId().size() > wire::max_name ||
      !believable(in.getLastNs()))
    return std::nullopt;
  std::ranges::copy(address, out.address.bytes.begin());
  out.boot = text(in.getBootId());
  out.last = from_ns(in.getLastNs());
  return out;
}

/// None: there was none, or it cannot have been.
std::optional<snapshot::contact> contact_in(schema::Node::Reader in) {
  if (!in.getHeard() || !believable(in.getSinceNs()) || !believable(in.getUntilNs()) ||
      in.getSinceNs() > in.getUntilNs())
    return std::nullopt;
  return snapshot::contact{from_ns(in.getSinceNs()), from_ns(in.getUntilNs())};
}

/// False: there are more than `most`.
bool read_nodes(schema::Snapshot::Reader in, std::size_t most, std::vector<snapshot::node>& out) {
  for (const auto n : in.getNodes()) {
    if (out.size() == most) return false;
    snapshot::node& node = out.emplace_back();
    node.name = text(n.getName());
    const auto words = n.getWords();
    node.words.reserve(words.size());
    for (const std::int64_t w : words) node.words.push_back(w);
    for (const auto l : n.getLabels()) node.labels.emplace(text(l.getKey()), text(l.getValue()));
    for (const auto t : n.getTenants()) {
      if (node.tenants.size() == snapshot::most_tenants) break;
      if (auto tenant = read(t)) node.tenants.push_back(std::move(*tenant));
    }
    node.heard = contact_in(n);
    node.uid = text(n.getUid());
  }
  return true;
}

/// Contacts for a snapshot of an older release, which noted none. Without them the state of a living replica
/// of that release would lose every node to any file that has them. So its replica counts as one that has run
/// for long, and has heard the node until the snapshot was taken. A node without any value was never heard.
void assume_contacts(snapshot& s) {
  for (snapshot::node& n : s.nodes) {
    const bool has_values = !n.words.empty() && n.words.front() > 0;
    if (!n.heard && has_values) n.heard = snapshot::contact{s.taken - snapshot::longest_contact, s.taken};
  }
}

void write_head(schema::Snapshot::Builder root, const snapshot& s) {
  root.setVersion(version);
  root.setSaysHeard(s.says_heard);
  root.setBootId(s.boot_id.c_str());
  root.setBootNs(to_ns(s.taken));
  root.setWallNs(
      std::chrono::duration_cast<std::chrono::nanoseconds>(s.taken_wall.time_since_epoch()).count());
  root.setNodeCount(static_cast<std::uint32_t>(s.nodes.size()));
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
    strategies[i].setUid(mark.uid.c_str());
    strategies[i].setContent(mark.content);
    strategies[i].setDisowned(mark.disowned);
    strategies[i].setGiven(mark.last_given.has_value());
    strategies[i].setLastGivenNs(mark.last_given ? to_ns(*mark.last_given) : 0);
  }
  auto policies = root.initPolicies(static_cast<unsigned>(s.policies.size()));
  for (unsigned i = 0; i < policies.size(); ++i) {
    policies[i].setManifest(policy::manifest_of(s.policies[i].value).c_str());
    policies[i].setSource(s.policies[i].source.c_str());
    policies[i].setRead(s.policies[i].read);
    policies[i].setInForce(s.policies[i].in_force);
  }
}

void write_nodes(schema::Snapshot::Builder root, std::span<const snapshot::node> all) {
  auto nodes = root.initNodes(static_cast<unsigned>(all.size()));
  for (unsigned i = 0; i < nodes.size(); ++i) {
    const snapshot::node& n = all[i];
    nodes[i].setName(n.name.c_str());
    auto words = nodes[i].initWords(static_cast<unsigned>(n.words.size()));
    for (unsigned w = 0; w < words.size(); ++w) words.set(w, n.words[w]);
    auto labels = nodes[i].initLabels(static_cast<unsigned>(n.labels.size()));
    unsigned l = 0;
    for (const auto& [key, value] : n.labels) {
      labels[l].setKey(key.c_str());
      labels[l++].setValue(value.c_str());
    }
    auto tenants = nodes[i].initTenants(static_cast<unsigned>(n.tenants.size()));
    for (unsigned t = 0; t < tenants.size(); ++t) {
      const snapshot::tenant& one = n.tenants[t];
      tenants[t].setAddress(kj::arrayPtr(one.address.bytes.data(), one.address.bytes.size()));
      tenants[t].setBootId(one.boot.c_str());
      tenants[t].setLastNs(to_ns(one.last));
    }
    nodes[i].setUid(n.uid.c_str());
    if (n.heard) {
      nodes[i].setHeard(true);
      nodes[i].setSinceNs(to_ns(n.heard->since));
      nodes[i].setUntilNs(to_ns(n.heard->until));
    }
  }
}

constexpr std::size_t usual_piece = std::size_t{256} << 10;

class byte_stream final : public kj::OutputStream {
 public:
  explicit byte_stream(const std::function<void(std::span<const std::byte>)>& take) : take_(take) {}
  void write(const void* at, std::size_t size) override { take_({static_cast<const std::byte*>(at), size}); }

 private:
  const std::function<void(std::span<const std::byte>)>& take_;
};

}  // namespace

namespace {

/// A wall clock that goes back by less was corrected, not set.
constexpr duration usual_correction = std::chrono::seconds(1);

/// Within one boot the instants need no translation. A boot without an id equals no other boot.
bool same_boot(const snapshot& s, const clocks& now) noexcept {
  return !s.boot_id.empty() && s.boot_id == now.boot_id && s.taken <= now.boot;
}

}  // namespace

std::optional<duration> age_of(const snapshot& s, const clocks& now) noexcept {
  if (same_boot(s, now)) return now.boot - s.taken;
  const auto age = std::chrono::duration_cast<duration>(now.wall - s.taken_wall);
  if (age < -usual_correction) return std::nullopt;
  return std::max(age, duration::zero());
}

duration shift_of(const snapshot& s, const clocks& now) noexcept {
  return same_boot(s, now) ? duration::zero()
                           : now.boot - age_of(s, now).value_or(duration::zero()) - s.taken;
}

// Lists and texts begin with a pointer and end with a zero; a label is an entry of a tree in memory. A tenant
// has a word and two pointers.
std::size_t size_of(const snapshot::node& n) noexcept {
  std::size_t out = sizeof n + n.name.size() + n.uid.size() + 32 + n.words.size() * sizeof(std::int64_t);
  for (const auto& [key, value] : n.labels) out += 128 + key.size() + value.size();
  for (const snapshot::tenant& t : n.tenants) out += sizeof t + 16 + t.boot.size();
  return out;
}

std::size_t size_of(const snapshot::column& c) noexcept {
  return sizeof c + 64 + c.spec.metric.size() + c.meaning.size();
}

std::size_t size_of(const policy::strategy_mark& m) noexcept {
  return sizeof m + 112 + m.key.name_space.size() + m.key.name.size() + m.uid.size();
}

void encode(snapshot s, const std::function<void(std::span<const std::byte>)>& take) {
  byte_stream out(take);
  std::size_t next = 0;
  do {
    capnp::MallocMessageBuilder message;
    auto root = message.initRoot<schema::Snapshot>();
    if (next == 0) write_head(root, s);
    const std::size_t begin = next;
    for (std::size_t size = 0; next < s.nodes.size() && size < usual_piece; ++next)
      size += size_of(s.nodes[next]);
    const std::span piece = std::span(s.nodes).subspan(begin, next - begin);
    write_nodes(root, piece);
    capnp::writePackedMessage(out, message);
    for (snapshot::node& n : piece) n = {};
  } while (next < s.nodes.size());
}

std::vector<std::byte> encode(snapshot s) {
  std::vector<std::byte> out;
  encode(std::move(s),
         [&out](std::span<const std::byte> piece) { out.insert(out.end(), piece.begin(), piece.end()); });
  return out;
}

result<snapshot> decode(std::span<const std::byte> bytes) {
  try {
    const kj::ArrayPtr<const kj::byte> packed(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size());
    // Before anything is unpacked: a small file may claim to be a large message.
    if (capnp::computeUnpackedSizeInWords(packed) > bounds.traversalLimitInWords)
      return malformed(fmt::format("it unpacks to more than {} MiB", most_snapshot_bytes >> 20));
    kj::ArrayInputStream stream(packed);
    std::size_t count = most_nodes;
    bool too_many = false;
    auto out = [&]() -> result<snapshot> {
      capnp::PackedMessageReader first(stream, bounds);
      const auto root = first.getRoot<schema::Snapshot>();
      auto head = read(root);
      if (head.has_error()) return head;
      if (root.getVersion() == version) count = std::min(root.getNodeCount(), most_nodes);
      too_many = !read_nodes(root, count, head->nodes);
      if (root.getVersion() == in_one_message) count = head->nodes.size();
      return head;
    }();
    while (out.has_value() && !too_many && out->nodes.size() < count &&
           stream.tryGetReadBuffer().size() > 0) {
      capnp::PackedMessageReader message(stream, bounds);
      too_many = !read_nodes(message.getRoot<schema::Snapshot>(), count, out->nodes);
    }
    if (out.has_value() && (too_many || out->nodes.size() != count))
      return malformed(fmt::format("it should have {} nodes and has not", count));
    if (out.has_value() && !out->says_heard) assume_contacts(*out);
    return out;
  } catch (const kj::Exception& e) {
    return malformed(e.getDescription().cStr());
  }
}

}  // namespace binnacle::aggregator
