// What the store takes along through a restart: the sample of each column at each node, and its window.
#include "aggregator/store/warehouse.hpp"

#include <fmt/format.h>

namespace binnacle::store {
namespace {

void save_sample(const sample& s, words& into) {
  into.insert(into.end(), {s.value.mantissa, s.value.exponent, to_ns(s.read_at), to_ns(s.expires_at),
                           static_cast<std::int64_t>(s.reason), s.partial, s.link_down,
                           static_cast<std::int64_t>(s.sure), s.unknown_percent, s.spread.count()});
}

sample load_sample(word_reader& from) {
  sample s;
  s.value.mantissa = from.next();
  s.value.exponent = static_cast<std::int8_t>(from.next(-18, 18));
  s.read_at = from.time();
  s.expires_at = from.time();
  s.reason = static_cast<absence>(from.next(0, static_cast<std::int64_t>(absence::other)));
  s.partial = from.flag();
  s.link_down = from.flag();
  s.sure = static_cast<certainty>(from.next(0, static_cast<std::int64_t>(certainty::unsure)));
  s.unknown_percent = static_cast<std::uint8_t>(from.next(0, 100));
  s.spread = duration(from.next(0, word_reader::longest.count()));
  return s;
}

}  // namespace

bool warehouse::save(column_id column, node_id node, words& into, bool with_window) const {
  const node_state& n = nodes_[index(node)];
  const auto c = static_cast<std::uint32_t>(index(column));
  const sample s = columns_.at(column).values->stored(node);
  const window_state* w = n.windows.size() > c ? n.windows[c].get() : nullptr;
  std::optional<window_state> old;
  if (w == nullptr) {
    old = remembered_window(node, c, 0);  // counters are not saved
    if (old) w = &*old;
  }
  if (s.reason == absence::not_read_yet && w == nullptr) return false;
  save_sample(s, into);
  into.push_back(with_window && w != nullptr);
  if (!with_window || w == nullptr) return true;
  into.insert(into.end(),
              {w->exponent, w->hole, static_cast<std::int64_t>(w->doubt), to_ns(w->doubtful_until)});
  save_sample(w->last, into);
  w->covered.save(into);
  std::visit([&into](const auto& points) { points.save(into); }, w->points);
  return true;
}

/// What the snapshot says of the column at a node of which nothing has been read since.
std::optional<sample> warehouse::remembered(node_id node, std::uint32_t c, instant now) const {
  auto from = memory_(columns_.at(column_id{c}).spec, meaning(column_id{c}), node);
  if (!from) return std::nullopt;
  sample s = load_sample(*from);
  if (!from->ok() || !s.present(now)) return std::nullopt;
  s.link_down = nodes_[index(node)].left != instant::max();
  return s;
}

/// What the snapshot says of the column's window at a node.
std::optional<warehouse::window_state> warehouse::remembered_window(node_id node, std::uint32_t c,
                                                                    std::int8_t counter_exponent) const {
  const column& what = columns_.at(column_id{c});
  if (!memory_ || what.length <= duration::zero()) return std::nullopt;
  auto from = memory_(what.spec, meaning(column_id{c}), node);
  if (!from) return std::nullopt;
  (void)load_sample(*from);  // skips the column's sample
  if (!from->flag()) return std::nullopt;
  window_state old = new_window(what, static_cast<std::int8_t>(from->next(-18, 18)), counter_exponent);
  old.hole = from->flag();
  old.doubt = static_cast<certainty>(from->next(0, static_cast<std::int64_t>(certainty::unsure)));
  old.doubtful_until = from->time();
  old.last = load_sample(*from);
  old.covered.load(*from);
  std::visit([&from](auto& points) { points.load(*from); }, old.points);
  if (!from->ok()) return std::nullopt;
  return old;
}

std::string warehouse::meaning(column_id id) const {
  const column& c = columns_.at(id);
  const metrics::resolved& r = c.name;
  return fmt::format("{} {}={} {} {} {} {} {} {} {}", r.family, r.label, r.value, static_cast<int>(r.rule),
                     r.rule_given, r.scale, r.offset, r.otherwise, c.length.count(),
                     static_cast<int>(c.stat));
}

std::vector<column_id> warehouse::columns() const {
  std::vector<column_id> out;
  for (std::uint32_t c = 0; c < columns_.size(); ++c) {
    if (columns_.used(column_id{c})) out.push_back(column_id{c});
  }
  return out;
}

}  // namespace binnacle::store
