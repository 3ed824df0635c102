// A catalog becomes a shape: whatever can be said of a node's series without their values.
//
// Nodes of one kind announce the same catalog, so five thousand nodes have a handful of shapes: the texts
// of 40 series for each node would be most of the aggregator's memory. shape_pool finds the equal one by a
// keyed hash and then compares, since an agent chooses its texts and could make others collide.
//
// Names collide in two ways. Two series may have the same family and labels: the second is refused. Two
// series may have the same flat name (`a{b="c_d"}` and `a_c{b="d"}` are both a_c_d): both stay, one loses the
// flat name. Our own families are looked at first and win both times, or an exporter's file could take the
// place of a sensor that a policy trusts.
//
// Pods come and go while the rest stays. So pods' series have no flat names, and name_parts (what callers'
// names are made of) is shared by all shapes that differ by pods alone: a new pod makes no new list of names.
#include "aggregator/store/shape.hpp"

#include "common/keyed_hash.hpp"
#include "common/wire/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace binnacle::store {

namespace {

constexpr std::size_t refusals_told = 8;

/// A name to log: what a hostile agent put in it must not fill or break a line.
std::string shown(std::string_view name) {
  std::string out(name.substr(0, 80));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return name.size() > 80 ? out + "…" : out;
}

result<void> check_bounds(const wire::catalog& c, const catalog_limits& limits) {
  if (c.series.size() > limits.series) {
    return error{
        errc::invalid_input,
        fmt::format("the catalog has {} series, {} are allowed per node: drop some in the agent's sources",
                    c.series.size(), limits.series)};
  }
  if (c.groups.size() > limits.groups) {
    return error{errc::invalid_input, fmt::format("the catalog has {} groups, {} are allowed per node",
                                                  c.groups.size(), limits.groups)};
  }
  for (const wire::series_info& s : c.series) {
    if (s.family.empty()) continue;  // the reader of the catalog has left it out
    if (s.group >= c.groups.size()) {
      return error{errc::invalid_input,
                   fmt::format("series {} names group {} of {}", shown(s.family), s.group, c.groups.size())};
    }
    if (s.exponent < -18 || s.exponent > 18) {
      return error{errc::invalid_input, fmt::format("series {} has the exponent {}, -18 to 18 are allowed",
                                                    shown(s.family), s.exponent)};
    }
  }
  return {};
}

/// Our families' labels in the family's order, whatever order the agent sent them in.
void put_in_order(metrics::label_set& labels, const metrics::family& f) {
  const auto position = [&](const std::string& name) {
    return std::find(f.labels.begin(), f.labels.end(), name) - f.labels.begin();
  };
  std::stable_sort(labels.begin(), labels.end(),
                   [&](const auto& a, const auto& b) { return position(a.first) < position(b.first); });
}

bool has_label(const shape::series& s, std::string_view name) {
  return std::any_of(s.labels.begin(), s.labels.end(), [&](const auto& l) { return l.first == name; });
}

/// Whether the series names a pod, by its UID as the agent's own do, or by namespace and name as exporters'
/// do. (An exporter may give an idle device an empty `pod`.)
bool is_of_a_pod(const shape::series& s) {
  const auto has = [&s](std::string_view label) { return !metrics::label_of(s.labels, label).empty(); };
  return has("pod_uid") || (has("pod") && has("namespace"));
}

void mix(std::size_t& h, std::size_t v) noexcept { h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2); }
void mix(std::size_t& h, std::string_view text) noexcept { mix(h, keyed_hash{}(text)); }

std::size_t label_hash(std::string_view name, std::string_view value) noexcept {
  std::size_t h = 0;
  mix(h, name);
  mix(h, value);
  return h;
}
/// A sum, so the order of the labels does not matter.
std::size_t labels_hash(const metrics::label_set& labels) noexcept {
  std::size_t sum = 0;
  for (const auto& [name, value] : labels) sum += label_hash(name, value);
  return sum;
}
/// series_hash() of a series with that labels_hash().
std::size_t with_family(std::size_t labels, std::string_view family) noexcept {
  mix(labels, family);
  return labels;
}

std::size_t hash_of(const shape& s) noexcept {
  std::size_t h = s.announced;
  for (const shape::series& one : s.all) {
    mix(h, series_hash(one.family, one.labels));
    mix(h, std::size_t{one.group} << 8 | static_cast<std::uint8_t>(one.exponent));
  }
  for (const wire::group_info& g : s.groups) {
    mix(h, g.source);
    mix(h, g.name);
    mix(h, std::size_t{g.period_ms} << 32 | g.stale_after_ms);
  }
  return h;
}

std::size_t hash_of(const shape::name_parts& names) noexcept {
  std::size_t h = names.families.size();
  for (const std::string& family : names.families) mix(h, family);
  for (const auto& s : names.series) mix(h, series_hash(s.family, s.labels));
  return h;
}

/// The live entry with that key for which `is_same` is true; null if there is none. sweep() removes entries
/// that nobody holds any more.
template <class T, class Same>
std::shared_ptr<const T> find_same(const std::unordered_multimap<std::size_t, std::weak_ptr<const T>>& known,
                                   std::size_t key, Same is_same) {
  for (auto [at, end] = known.equal_range(key); at != end; ++at) {
    if (auto one = at->second.lock(); one && is_same(*one)) return one;
  }
  return nullptr;
}

/// The labels in an order of their own. With `more`, that label is among them.
std::vector<std::pair<std::string_view, std::string_view>> sorted(const metrics::label_set& labels,
                                                                  const metrics::member& more = {}) {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  out.reserve(labels.size() + 1);
  for (const auto& [name, value] : labels) out.emplace_back(name, value);
  if (!more.label.empty()) out.emplace_back(more.label, more.value);
  std::sort(out.begin(), out.end());
  return out;
}

/// Equal families and labels, in whatever order the labels stand. An agent chooses the order. So the labels
/// are sorted: to look for each of 32 among the other 32 would take a thousand comparisons.
bool same_series(const shape::series& a, const shape::series& b) {
  return a.family == b.family && (a.labels == b.labels || (a.labels.size() == b.labels.size() &&
                                                           sorted(a.labels) == sorted(b.labels)));
}

/// Whether `counter` is what `by` says of a series with these labels.
bool is_counter_of(const metrics::label_set& labels, const metrics::member& by,
                   const shape::series& counter) {
  return counter.family == by.family && counter.labels.size() == labels.size() + (by.label.empty() ? 0 : 1) &&
         sorted(labels, by) == sorted(counter.labels);
}

class maker {
 public:
  explicit maker(wire::catalog announced)
      : announced_(std::move(announced)), claims_(announced_.series.size()) {}

  made_shape run() {
    made_.what.groups = announced_.groups;
    made_.what.announced = announced_.series.size();
    made_.what.places.assign(announced_.series.size(), shape::refused);
    made_.what.all.reserve(announced_.series.size());
    made_.what.group_of.reserve(announced_.series.size());
    find_families();
    find_owned_families();
    // Our own series first, so that they win every collision; then both in the order of the catalog.
    for (std::uint32_t i = 0; i < announced_.series.size(); ++i) {
      if (is_own(i)) claim_names(i, true);
    }
    for (std::uint32_t i = 0; i < announced_.series.size(); ++i) {
      if (!claims_[i].looked_at) claim_names(i, false);
    }
    for (std::uint32_t i = 0; i < announced_.series.size(); ++i) keep(i);
    if (made_.refused_series == 0) std::vector<std::uint32_t>().swap(made_.what.places);
    index();
    find_counters();
    return std::move(made_);
  }

 private:
  struct claim {
    bool looked_at = false, taken = false;
    std::size_t labels = 0;  // labels_hash()
    shape::series what;
  };

  void find_families() {
    known_.reserve(announced_.series.size());
    for (std::size_t i = 0; i < announced_.series.size(); ++i) {
      const std::string& family = announced_.series[i].family;
      const bool again = i > 0 && announced_.series[i - 1].family == family;
      known_.push_back(again ? known_.back() : metrics::find(family));
    }
  }

  /// Finds our families that come from their own source on this node. A user's file with a family of the same
  /// name is then a collision. If the source is absent, a user may supply the family in another way (a
  /// machine without RAPL but with a power meter).
  void find_owned_families() {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i] != nullptr && comes_from_its_source(i)) owned_.insert(known_[i]);
    }
  }
  bool comes_from_its_source(std::size_t i) const {
    return known_[i]->source == announced_.groups[announced_.series[i].group].source;
  }
  bool is_own(std::size_t i) const {
    return known_[i] != nullptr && (comes_from_its_source(i) || !owned_.contains(known_[i]));
  }

  /// Whether this is an old name of a family that its own source gives on this node.
  bool is_alias_of_ours(std::string_view name) const {
    const metrics::resolved meant = metrics::resolve(name);
    return meant.is_alias && owned_.contains(metrics::find(meant.family));
  }

  void refuse_series(std::string_view family, std::string_view why) {
    ++made_.refused_series;
    tell(fmt::format("series {} is refused: {}", shown(family), why));
  }
  void tell(std::string sentence) {
    if (made_.refusals.size() < refusals_told) made_.refusals.push_back(std::move(sentence));
  }

  void claim_names(std::uint32_t i, bool own) {
    wire::series_info& from = announced_.series[i];
    claims_[i].looked_at = true;
    if (from.family.empty()) return refuse_series("", "it could not be read");
    const metrics::family* f = known_[i];
    if (f != nullptr && !own)
      return refuse_series(from.family,
                           "our own source gives this family already; rename it in the file or exporter");
    if (!own && flats_.contains(from.family))
      return refuse_series(from.family, "its name is the flat name of another series; rename it");

    // A user's file may take an old name from our own source, since its author decided so. An exporter may
    // not.
    if (f == nullptr && announced_.groups[from.group].source == "scrape" && is_alias_of_ours(from.family))
      return refuse_series(from.family,
                           "it is an old name of a metric that our own source gives here; rename it");

    shape::series& s = claims_[i].what;
    s = {std::move(from.family), std::move(from.labels), {}, from.exponent, from.type, from.group,
         std::move(from.help)};
    if (f != nullptr) put_in_order(s.labels, *f);
    claims_[i].labels = labels_hash(s.labels);
    const std::size_t hash = with_family(claims_[i].labels, s.family);
    for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at) {
      if (same_series(claims_[at->second].what, s))
        return refuse_series(s.family, "the same family and labels are announced twice");
    }
    by_hash_.emplace(hash, i);
    if (families_.empty() || last_family_ != s.family) families_.insert(last_family_ = s.family);
    s.flat = claim_flat(s, f);
    claims_[i].taken = true;
  }

  std::string claim_flat(const shape::series& s, const metrics::family* f) {
    // No flat names for series of CPUs, because a node has too many of them, nor for series of pods, because
    // pods come and go.
    const bool is_of_a_cpu = f != nullptr ? f->per_cpu : has_label(s, "cpu");
    if (s.labels.empty() || is_of_a_cpu || is_of_a_pod(s)) return {};
    std::string flat =
        metrics::flat_name(s.family, f != nullptr ? metrics::flat_labels(*f, s.labels) : s.labels);
    // Discovery has each of them a dozen times.
    if (flat.size() > wire::max_name) {
      ++made_.refused_names;
      tell(fmt::format(
          "a flat name of {} would be longer than {} bytes: this series is reached by its labels only",
          shown(s.family), wire::max_name));
      return {};
    }
    if (metrics::find(flat) != nullptr || families_.contains(flat) || !flats_.insert(flat).second) {
      ++made_.refused_names;
      tell(fmt::format("the flat name {} is taken: this series of {} is reached by its labels only",
                       shown(flat), shown(s.family)));
      return {};
    }
    return flat;
  }

  void keep(std::uint32_t i) {
    if (!claims_[i].taken) return;
    made_.what.places[i] = static_cast<std::uint32_t>(made_.what.all.size());
    made_.what.all.push_back(std::move(claims_[i].what));
  }

  void index() {
    shape& s = made_.what;
    s.by_family.resize(s.all.size());
    std::iota(s.by_family.begin(), s.by_family.end(), 0u);
    std::stable_sort(s.by_family.begin(), s.by_family.end(),
                     [&](auto a, auto b) { return s.all[a].family < s.all[b].family; });
    for (std::uint32_t i = 0; i < s.all.size(); ++i) {
      if (!s.all[i].flat.empty()) s.by_flat.push_back(i);
      s.group_of.push_back(s.all[i].group);
    }
    s.by_flat.shrink_to_fit();
    std::sort(s.by_flat.begin(), s.by_flat.end(),
              [&](auto a, auto b) { return s.all[a].flat < s.all[b].flat; });
    auto names = std::make_shared<shape::name_parts>();
    for (const std::uint32_t i : s.by_family) {
      if (names->families.empty() || names->families.back() != s.all[i].family)
        names->families.push_back(s.all[i].family);
    }
    for (const shape::series& one : s.all) {
      if (!one.labels.empty() && !is_of_a_pod(one))
        names->series.push_back({one.family, one.labels, one.flat});
    }
    s.names = std::move(names);
    s.hash = hash_of(s);
    for (const wire::group_info& g : s.groups)
      s.stale_after_ns.push_back(std::int64_t{g.stale_after_ms} * 1'000'000);
  }

  std::uint32_t place_of(std::uint32_t i) const {
    return made_.what.places.empty() ? i : made_.what.places[i];
  }

  /// They are found here and not with each plan: a plan may be made on a loop that others wait for.
  void find_counters() {
    shape& s = made_.what;
    for (std::uint32_t i = 0; i < claims_.size(); ++i) {
      if (!claims_[i].taken || known_[i] == nullptr) continue;
      const metrics::member& by = known_[i]->integral;
      if (by.family.empty()) continue;
      std::size_t labels = claims_[i].labels;
      if (!by.label.empty()) labels += label_hash(by.label, by.value);
      const std::uint32_t here = place_of(i);
      for (auto [at, end] = by_hash_.equal_range(with_family(labels, by.family)); at != end; ++at) {
        const std::uint32_t there = place_of(at->second);
        if (!is_counter_of(s.all[here].labels, by, s.all[there])) continue;
        if (s.counters.empty()) s.counters.assign(s.all.size(), nowhere);
        s.counters[here] = there;
      }
    }
  }

  wire::catalog announced_;
  made_shape made_;
  std::vector<const metrics::family*> known_;  // by series: null: none of ours
  std::vector<claim> claims_;
  std::unordered_set<const metrics::family*> owned_;
  // An agent chooses these texts: series_hash() has a key, too.
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash_;
  std::unordered_set<std::string, keyed_hash> families_, flats_;
  std::string last_family_;
};

bool same_groups(const shape& a, const shape& b) {
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const auto& x, const auto& y) {
                      return x.source == y.source && x.name == y.name && x.period_ms == y.period_ms &&
                             x.stale_after_ms == y.stale_after_ms;
                    });
}

}  // namespace

std::size_t series_hash(std::string_view family, const metrics::label_set& labels) noexcept {
  return with_family(labels_hash(labels), family);
}

std::span<const std::uint32_t> shape::of_family(std::string_view family) const noexcept {
  const auto first = std::partition_point(by_family.begin(), by_family.end(),
                                          [&](auto i) { return all[i].family < family; });
  const auto last =
      std::partition_point(first, by_family.end(), [&](auto i) { return all[i].family == family; });
  return {first, last};
}

const std::uint32_t* shape::of_flat(std::string_view flat) const noexcept {
  const auto at =
      std::partition_point(by_flat.begin(), by_flat.end(), [&](auto i) { return all[i].flat < flat; });
  return at != by_flat.end() && all[*at].flat == flat ? &*at : nullptr;
}

const std::uint32_t* shape::counter_of(std::uint32_t i) const noexcept {
  return counters.empty() || counters[i] == nowhere ? nullptr : &counters[i];
}

result<made_shape> make_shape(wire::catalog announced, const catalog_limits& limits) {
  if (auto ok = check_bounds(announced, limits); ok.has_error()) return ok.error();
  return maker(std::move(announced)).run();
}

namespace {

/// For each group of `now`: the group of `was` with the same source and name, or `nowhere`.
std::vector<std::uint32_t> group_origins(const shape& now, const shape& was) {
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> old;
  for (std::uint32_t g = 0; g < was.groups.size(); ++g)
    old.try_emplace({was.groups[g].source, was.groups[g].name}, g);
  std::vector<std::uint32_t> out;
  out.reserve(now.groups.size());
  for (const wire::group_info& g : now.groups) {
    const auto at = old.find({g.source, g.name});
    out.push_back(at == old.end() ? nowhere : at->second);
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> origins(const shape& now, const shape& was) {
  const std::vector<std::uint32_t> old_group = group_origins(now, was);
  const auto is = [&](const shape::series& s, std::uint32_t there) {
    const shape::series& from = was.all[there];
    return from.family == s.family && from.labels == s.labels && old_group[s.group] == from.group;
  };
  // Series mostly keep their order, so the old place is guessed to be the one after the last. If the guess is
  // wrong, the series is looked up.
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash;  // thousands may be of one family
  std::vector<std::uint32_t> out;
  out.reserve(now.all.size());
  std::uint32_t next = 0;
  for (const shape::series& s : now.all) {
    std::uint32_t found = nowhere;
    if (next < was.all.size() && is(s, next)) {
      found = next;
    } else {
      if (by_hash.empty()) {
        by_hash.reserve(was.all.size());
        for (std::uint32_t i = 0; i < was.all.size(); ++i)
          by_hash.emplace(series_hash(was.all[i].family, was.all[i].labels), i);
      }
      for (auto [at, end] = by_hash.equal_range(series_hash(s.family, s.labels)); at != end; ++at) {
        if (is(s, at->second)) found = at->second;
      }
    }
    if (found != nowhere) next = found + 1;
    out.push_back(found);
  }
  return out;
}

prepared_catalog prepare(wire::catalog announced, const catalog_limits& limits,
                         std::shared_ptr<const shape> before) {
  const std::uint32_t version = announced.version;
  prepared_catalog out{version, make_shape(std::move(announced), limits), std::move(before), {}, {}};
  if (out.made.has_value() && out.before != nullptr) out.from = origins(out.made->what, *out.before);
  return out;
}

std::shared_ptr<const shape> shape_pool::intern(shape s) {
  const std::size_t key = s.hash;
  const auto same = [&s](const shape& known) {
    return known.announced == s.announced && known.places == s.places && known.all == s.all &&
           same_groups(known, s);
  };
  if (auto known = find_same(known_, key, same)) return known;
  if (known_.size() + names_.size() >= sweep_at_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    std::erase_if(names_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, (known_.size() + names_.size()) * 2);
  }
  s.names = intern(std::move(s.names));
  auto fresh = std::make_shared<const shape>(std::move(s));
  known_.emplace(key, fresh);
  return fresh;
}

std::shared_ptr<const shape::name_parts> shape_pool::intern(std::shared_ptr<const shape::name_parts> names) {
  const std::size_t key = hash_of(*names);
  if (auto known = find_same(names_, key, [&](const auto& one) { return one == *names; })) return known;
  names_.emplace(key, names);
  return names;
}

}  // namespace binnacle::store
