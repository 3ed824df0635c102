// The store, and why it is built like this.
//
//   catalog ─→ shape ─→ row (cells of one node)          rarely: when an agent's series change
//                  └────→ kind (plans of all columns)
//   batch ─→ row ─→ for each group that was read: the columns of that group ─→ window ─→ cell ─→ sink
//
// A batch comes every second from every node, a catalog almost never. So everything that needs a name is
// done when the catalog comes, and a batch finds numbers: series 17 is cell 17, group 3 touches columns 0,
// 4 and 9. The work of a batch is therefore as large as what it brings, and not as what the store has.
//
// What is compiled depends on the names that agents send and on the columns that are asked for. Both come
// from outside. So compiling may be done on another thread: preparation() gives a function for it, and
// set_catalog() checks whether the result still fits. Meanwhile columns may have come, or another session of
// the node may have announced a catalog.
//
// Invariants:
// - One thread writes. The faces read cells and samples at any moment (row, shared_column), so a cell never
//   moves and an id is never given out again.
// - A value that ends is an event like a value that comes: expire() publishes the absence. Nobody who reads
//   has to compare ages with limits.
// - A batch is checked as a whole before its first value is stored (check()): nothing is half applied.
#include "aggregator/store/warehouse.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::store {
namespace {

/// How certain a statistic is when some of its values are not exact. `worst`: their certainties, joined.
certainty sure_of(statistic stat, certainty worst) noexcept {
  const bool follows = stat != statistic::stddev && stat != statistic::trend;  // a rising value raises it
  return follows || worst == certainty::exact ? worst : certainty::unsure;
}

}  // namespace

warehouse::warehouse(warehouse_limits limits, sink on_sample, const metrics::alias_table& names)
    : limits_(limits), sink_(std::move(on_sample)), columns_(names) {}

result<node_id> warehouse::node(std::string_view name) {
  if (const auto known = find(name)) return *known;
  if (by_name_.size() >= limits_.nodes) {
    return error{errc::overloaded,
                 fmt::format("{} nodes are known already, the limit: raise max-nodes", by_name_.size())};
  }
  if (ids_given() >= most_ids()) {
    return error{
        errc::overloaded,
        fmt::format("{} nodes have come and gone since the start: restart the aggregator", nodes_.size())};
  }
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back().name = name;
  by_name_.emplace(std::string(name), id);
  return node_id{id};
}

std::optional<node_id> warehouse::find(std::string_view name) const noexcept {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? std::nullopt : std::optional(node_id{at->second});
}

void warehouse::set_names(const metrics::alias_table& names, instant now) {
  const auto changed = columns_.set_names(names);
  // Node by node, as values come.
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    node_state& n = nodes_[i];
    if (!n.cells) continue;
    for (const column_id id : changed) {
      const auto c = static_cast<std::uint32_t>(index(id));
      if (n.windows.size() > c) n.windows[c].reset();
      publish(c, node_id{i}, derive(n, c, now));
    }
  }
}

std::function<prepared_catalog(wire::catalog)> warehouse::preparation(node_id id) const {
  const auto& cells = nodes_[index(id)].cells;
  return [limits = limits_.per_node, before = cells ? cells->shared_shape() : nullptr,
          wanted = columns_.plan_wishes()](wire::catalog announced) {
    prepared_catalog out = prepare(std::move(announced), limits, before);
    if (out.made.has_value()) out.plans = make_plans(out.made->what, *wanted);
    return out;
  };
}

result<warehouse::catalog_outcome> warehouse::set_catalog(node_id id, prepared_catalog announced,
                                                          instant now) {
  node_state& n = nodes_[index(id)];
  auto& made = announced.made;
  const std::size_t before = n.cells ? n.cells->series().all.size() : 0;
  if (made.has_error() || series_ - before + made->what.all.size() > limits_.series) {
    ++counters_.refused_catalogs;
    if (made.has_error()) return made.error();
    return error{errc::overloaded,
                 fmt::format("all nodes together would have more than {} series", limits_.series)};
  }
  counters_.refused_series += made->refused_series;
  counters_.refused_names += made->refused_names;
  catalog_outcome out;
  out.refused_series = made->refused_series;
  out.refused_names = made->refused_names;
  out.refusals = std::move(made->refusals);

  n.catalog_version = announced.version;
  auto what = shapes_.intern(std::move(made->what));
  if (!n.cells || n.cells->shared_shape() != what) {
    auto fresh = std::make_shared<row>(what);
    // Another session of the node may have announced something meanwhile.
    if (n.cells && n.cells->shared_shape() != announced.before)
      announced.from = origins(*what, n.cells->series());
    if (n.cells) fresh->carry_over(*n.cells, announced.from);
    series_ += what->all.size() - before;
    n.cells = std::move(fresh);
    n.what = columns_.kind_of(std::move(what), announced.plans.get());
    out.changed = true;
    for (auto& w : n.windows) {
      if (!w) continue;
      if (auto* mean = std::get_if<mean_window>(&w->points)) mean->change_counter();
    }
    next_stamp();
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (columns_.used(column_id{c})) publish(c, id, derive(n, c, evaluate_once(n, c, now), now));
    }
  }
  out.cells = n.cells;
  return out;
}

result<void> warehouse::check(const node_state& n, const wire::batch& b) const {
  if (!n.cells) return error{errc::protocol, "a batch came before the catalog"};
  if (b.catalog_version != n.catalog_version) {
    return error{errc::protocol, fmt::format("a batch is of catalog version {}, the node announced {}",
                                             b.catalog_version, n.catalog_version)};
  }
  const shape& s = n.cells->series();
  std::uint32_t last = 0;
  for (const wire::series_value& v : b.values) last = std::max(last, v.series);
  for (const wire::series_absence& a : b.absences) last = std::max(last, a.series);
  if (last >= s.announced && !(b.values.empty() && b.absences.empty())) {
    return error{errc::protocol,
                 fmt::format("a batch names series {}, the catalog has {}", last, s.announced)};
  }
  for (const wire::group_read& r : b.reads) {
    if (r.group >= s.groups.size()) {
      return error{errc::protocol,
                   fmt::format("a batch names group {}, the catalog has {}", r.group, s.groups.size())};
    }
  }
  return {};
}

void warehouse::touch(std::uint16_t group) {
  if (group_stamp_[group] == stamp_) return;
  group_stamp_[group] = stamp_;
  touched_.push_back(group);
}

void warehouse::store_cells(node_state& n, const wire::batch& b) {
  row& cells = *n.cells;
  const shape& s = cells.series();
  const std::uint32_t* places = s.places.empty() ? nullptr : s.places.data();
  const bool watched = columns_.in_use() > 0;
  const auto place = [places](std::uint32_t i) { return places == nullptr ? i : places[i]; };
  for (const wire::series_value& v : b.values) {
    const std::uint32_t i = place(v.series);
    if (i == shape::refused) continue;
    cells.set_value(i, v.mantissa);
    if (watched) touch(s.group_of[i]);
  }
  for (const wire::series_absence& a : b.absences) {
    const std::uint32_t i = place(a.series);
    if (i == shape::refused) continue;
    // `none` is no reason for an absence. An absence with it counts as malformed.
    cells.set_absent(i, a.reason == absence::none ? absence::malformed : a.reason);
    if (watched) touch(s.group_of[i]);
  }
  if (b.full && b.values.size() + b.absences.size() < s.announced) absent_when_not_in(b, n);
}

/// A full batch names every series that the agent has read or found absent. All others count as not read yet.
void warehouse::absent_when_not_in(const wire::batch& full, node_state& n) {
  const shape& s = n.cells->series();
  std::vector<bool> named(s.announced, false);
  for (const wire::series_value& v : full.values) named[v.series] = true;
  for (const wire::series_absence& a : full.absences) named[a.series] = true;
  for (std::uint32_t k = 0; k < s.announced; ++k) {
    const std::uint32_t i = s.places.empty() ? k : s.places[k];
    if (named[k] || i == shape::refused) continue;
    n.cells->set_absent(i, absence::not_read_yet);
    touch(s.group_of[i]);
  }
}

void warehouse::store_read_times(node_state& n, const wire::batch& b, duration offset, instant now) {
  for (const wire::group_read& r : b.reads) {
    std::int64_t at = 0;
    if (__builtin_add_overflow(r.read_at_ns, offset.count(), &at) || at <= 0 || at > to_ns(now)) {
      at = at > to_ns(now) ? to_ns(now) : 1;
      ++counters_.clamped_reads;
    }
    n.cells->set_read(r.group, from_ns(at));
    touch(r.group);
  }
}

result<void> warehouse::apply(node_id id, const wire::batch& b, duration offset, instant now) {
  node_state& n = nodes_[index(id)];
  if (auto ok = check(n, b); ok.has_error()) {
    ++counters_.refused_batches;
    return ok.error();
  }
  ++counters_.batches;
  counters_.values += b.values.size();
  counters_.absences += b.absences.size();

  touched_.clear();
  next_stamp();
  if (group_stamp_.size() < n.what->columns_of.size()) group_stamp_.resize(n.what->columns_of.size(), 0);

  store_cells(n, b);
  store_read_times(n, b, offset, now);
  n.cells->set_last_batch(now);
  if (columns_.in_use() > 0) derive_touched(id, now);
  return {};
}

void warehouse::next_stamp() {
  if (++stamp_ == 0) {  // after 2^32 of them: no old stamp may look like a new one
    std::fill(group_stamp_.begin(), group_stamp_.end(), 0u);
    std::fill(column_stamp_.begin(), column_stamp_.end(), 0u);
    std::fill(evaluated_.begin(), evaluated_.end(), evaluated{});
    stamp_ = 1;
  }
  if (column_stamp_.size() >= columns_.size()) return;
  column_stamp_.resize(columns_.size(), 0);
  evaluated_.resize(columns_.size());
}

void warehouse::derive_touched(node_id id, instant now) {
  node_state& n = nodes_[index(id)];
  for (const std::uint16_t group : touched_) {
    for (const std::uint32_t c : n.what->columns_of[group]) {
      if (column_stamp_[c] == stamp_) continue;
      column_stamp_[c] = stamp_;
      publish(c, id, derive(n, c, evaluate_once(n, c, now), now));
    }
  }
}

/// A column's raw sample after a batch or a catalog, before its window. Columns with one plan share it:
/// fifty windows of a metric with 10,000 series at one node cost one look at these series.
const sample& warehouse::evaluate_once(const node_state& n, std::uint32_t c, instant now) {
  const std::uint32_t twins = n.what->twins[c];
  if (twins != kind::alone && evaluated_[twins].stamp == stamp_) return evaluated_[twins].raw;
  ++counters_.evaluated;
  sample& raw = twins == kind::alone ? raw_ : evaluated_[twins].raw;
  if (twins != kind::alone) evaluated_[twins].stamp = stamp_;
  return raw = evaluate(*n.what->plans[c], *n.cells, now);
}

void warehouse::publish(std::uint32_t c, node_id id, const sample& s) {
  ++counters_.derived;
  columns_.at(column_id{c}).values->store(id, s);
  arm(c, id, s);
  if (sink_) sink_(column_id{c}, id, s);
}

void warehouse::arm(std::uint32_t c, node_id id, const sample& s) {
  const node_state& n = nodes_[index(id)];
  if (s.reason != absence::none || !n.what->plans[c]->outlives_members()) return;
  const auto [at, fresh] = armed_.emplace(key(id, c), s.expires_at);
  if (!fresh && at->second <= s.expires_at) return;
  at->second = s.expires_at;
  deadlines_.push({s.expires_at, id, c});
  deadlines_.prune_if_large([this](const deadline& d) { return awaited(d); });
}

void warehouse::expire(instant now) {
  while (const auto due = deadlines_.pop(now)) {
    if (!awaited(*due)) continue;
    armed_.erase(key(due->node, due->column));
    node_state& n = nodes_[index(due->node)];
    if (!n.what || !columns_.used(column_id{due->column}) || !n.what->plans[due->column]->outlives_members())
      continue;
    const sample current = columns_.at(column_id{due->column}).values->stored(due->node);
    if (current.present(now)) {
      arm(due->column, due->node, current);
      continue;
    }
    // The sample expires as a whole and keeps its age in two cases: no member is left, or no member was read
    // later than the one that ended. In the second case the node is silent, and the members that are left
    // only look fresher.
    const sample left = evaluate(*n.what->plans[due->column], *n.cells, now);
    if (!left.present(now) || left.newest_read_at() < current.newest_read_at()) continue;
    publish(due->column, due->node, derive(n, due->column, left, now));
  }
}

sample warehouse::derive(node_state& n, std::uint32_t c, instant now) {
  return derive(n, c, evaluate(*n.what->plans[c], *n.cells, now), now);
}

sample warehouse::derive(node_state& n, std::uint32_t c, sample raw, instant now) {
  if (memory_ && raw.reason == absence::not_read_yet) {
    if (const auto known = remembered(id_of(n), c, now)) return *known;
  }
  const plan& p = *n.what->plans[c];
  if (columns_.at(column_id{c}).length > duration::zero()) return derive_window(n, c, p, raw, now);
  finish(p, raw);
  return raw;
}

warehouse::window_state& warehouse::window_of(node_state& n, std::uint32_t c, std::int8_t exponent,
                                              const plan& p) {
  if (n.windows.size() <= c) n.windows.resize(columns_.size());
  auto& w = n.windows[c];
  // Points of another resolution (a series announced again with another exponent) cannot be mixed.
  if (w && w->exponent == exponent) return *w;
  auto old = remembered_window(id_of(n), c, p.integral_exponent);
  w = std::make_unique<window_state>(
      old && old->exponent == exponent
          ? std::move(*old)
          : new_window(columns_.at(column_id{c}), exponent, p.integral_exponent));
  return *w;
}

warehouse::window_state warehouse::new_window(const column& col, std::int8_t exponent,
                                              std::int8_t counter_exponent) {
  const coverage nothing(std::max<std::int64_t>(col.length / std::chrono::microseconds(1), 1));
  if (col.stat == statistic::avg)
    return {mean_window(col.length, exponent, counter_exponent), exponent, nothing};
  return {point_window(col.length, col.stat, exponent), exponent, nothing};
}

sample warehouse::derive_window(node_state& n, std::uint32_t c, const plan& p, sample raw, instant now) {
  const column& col = columns_.at(column_id{c});
  const bool mean = col.stat == statistic::avg;
  if (!mean) finish(p, raw);  // a mean is scaled afterwards: its counters know nothing of the scale
  if (raw.reason != absence::none) {
    // One failed read does not empty a window: the window's value ages from the newest good read and ends
    // when that expires.
    if (n.windows.size() <= c || !n.windows[c]) return raw;
    window_state& w = *n.windows[c];
    w.hole = true;
    if (!w.last.present(now)) return raw;
    w.last.link_down = raw.link_down;
    return w.last;
  }
  window_state& w = window_of(n, c, raw.value.exponent, p);
  if (!raw.present(now) && !std::visit([](const auto& points) { return points.empty(); }, w.points)) {
    w.hole = true;  // a member is too old: the last statistic stays until it expires
    w.last.link_down = raw.link_down;
    return w.last;
  }
  sample s = raw;
  const instant read_at = raw.newest_read_at();
  std::optional<decimal> value;
  // `put` adds the point, and says whether the time since the one before is known.
  const auto add = [&](auto& points, auto put) {
    // If the clock went far back, the window starts again. If it went back a little, because the link offset
    // was corrected, the point is left out.
    if (!points.empty() && read_at + col.length < points.newest()) {
      points.clear();
      w.covered.clear();
      w.doubtful_until = {};
    }
    // Windows keep whole microseconds, read times are finer: the same read must not count as a later one.
    if (!points.empty() && read_at - points.newest() < std::chrono::microseconds(1)) return;
    const bool hole = w.hole || (!points.empty() && read_at - points.newest() > p.longest_gap);
    w.covered.add(to_us(read_at), !put(points, hole));
  };
  if (mean) {
    auto& points = std::get<mean_window>(w.points);
    add(points, [&](mean_window& to, bool hole) {
      return to.add(read_at, raw.value.mantissa, integral_now(p, *n.cells), hole);
    });
    value = points.mean();
  } else {
    auto& points = std::get<point_window>(w.points);
    add(points, [&](point_window& to, bool hole) {
      to.add(read_at, raw.value.mantissa);
      return !hole;
    });
    value = points.value();
  }
  w.hole = false;
  if (raw.sure != certainty::exact) {
    w.doubt = read_at < w.doubtful_until ? w.doubt | raw.sure : raw.sure;
    w.doubtful_until = read_at + col.length;
  }
  if (read_at < w.doubtful_until) s.sure = sure_of(col.stat, w.doubt);
  s.unknown_percent = w.covered.unknown_percent();
  if (value) {
    s.value = *value;
    if (mean) finish(p, s);
  } else {
    // No result: a trend or a deviation needs two points, or the number does not fit.
    s.value = {};
    s.reason = std::holds_alternative<point_window>(w.points) && std::get<point_window>(w.points).size() < 2
                   ? absence::not_read_yet
                   : absence::out_of_range;
  }
  w.last = s;
  return s;
}

std::vector<warehouse::gone_node> warehouse::forget_idle(
    duration idle, instant now, const std::function<bool(const std::string&)>& keep) {
  std::vector<gone_node> gone;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    node_state& n = nodes_[i];
    if (n.left == instant::max() || now - n.left < idle || (keep && keep(n.name))) continue;
    by_name_.erase(n.name);
    if (n.cells) series_ -= n.cells->series().all.size();
    gone.push_back({node_id{i}, std::move(n.name)});
    n = {};
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (columns_.used(column_id{c})) columns_.at(column_id{c}).values->store(node_id{i}, sample{});
    }
  }
  counters_.forgotten += gone.size();
  return gone;
}

void warehouse::set_linked(node_id id, bool linked, instant now) {
  node_state& n = nodes_[index(id)];
  n.left = linked ? instant::max() : now;
  if (!n.cells || n.cells->linked() == linked) return;
  n.cells->set_linked(linked);
  for (std::uint32_t c = 0; c < columns_.size(); ++c) {
    if (!columns_.used(column_id{c})) continue;
    sample s = columns_.at(column_id{c}).values->stored(id);
    s.link_down = !linked;
    publish(c, id, s);
  }
}

watched_values warehouse::watch(const column_spec& spec, instant now) {
  const auto [id, made] = columns_.add(spec);
  const column& c = columns_.at(id);
  if (made) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].cells) {
        if (const auto known = memory_ ? remembered(node_id{i}, index(id), now) : std::nullopt)
          c.values->store(node_id{i}, *known);
        continue;
      }
      const sample s = derive(nodes_[i], index(id), now);
      c.values->store(node_id{i}, s);
      arm(index(id), node_id{i}, s);
    }
  }
  return {id, c.values};
}

void warehouse::unwatch(column_id id) {
  if (!columns_.remove(id)) return;
  for (node_state& n : nodes_) {
    if (index(id) < n.windows.size()) n.windows[index(id)].reset();
  }
}

}  // namespace binnacle::store
