#include "aggregator/store/shape.hpp"

#include "common/keyed_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

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
        fmt::format("the catalogue has {} series, {} are allowed per node: drop some in the agent's sources",
                    c.series.size(), limits.series)};
  }
  if (c.groups.size() > limits.groups) {
    return error{errc::invalid_input, fmt::format("the catalogue has {} groups, {} are allowed per node",
                                                  c.groups.size(), limits.groups)};
  }
  for (const wire::series_info& s : c.series) {
    if (s.family.empty()) continue;  // left out by its reader
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

/// Our families' labels in catalogue order, whatever order the agent sent them in.
void put_in_order(metrics::label_set& labels, const metrics::family& f) {
  const auto position = [&](const std::string& name) {
    return std::find(f.labels.begin(), f.labels.end(), name) - f.labels.begin();
  };
  std::stable_sort(labels.begin(), labels.end(),
                   [&](const auto& a, const auto& b) { return position(a.first) < position(b.first); });
}

std::string identity_of(const shape::series& s) {
  metrics::label_set sorted = s.labels;
  std::sort(sorted.begin(), sorted.end());
  std::string key = s.family;
  for (const auto& [name, value] : sorted) key.append(1, '\xff').append(name).append(1, '\xfe').append(value);
  return key;
}

class maker {
 public:
  explicit maker(const wire::catalog& announced) : announced_(announced), claims_(announced.series.size()) {}

  made_shape run() {
    made_.what.groups = announced_.groups;
    made_.what.announced = announced_.series.size();
    made_.what.places.assign(announced_.series.size(), shape::refused);
    made_.what.all.reserve(announced_.series.size());
    made_.what.group_of.reserve(announced_.series.size());
    find_owned_families();
    // Our own series first, so that they win every collision; then both in the order of the catalogue.
    for (std::uint32_t i = 0; i < announced_.series.size(); ++i) {
      if (is_own(announced_.series[i])) claim_names(i);
    }
    for (std::uint32_t i = 0; i < announced_.series.size(); ++i) {
      if (!is_own(announced_.series[i])) claim_names(i);
    }
    for (std::uint32_t i = 0; i < announced_.series.size(); ++i) keep(i);
    if (made_.refused_series == 0) std::vector<std::uint32_t>().swap(made_.what.places);
    index();
    return std::move(made_);
  }

 private:
  struct claim {
    bool taken = false;
    shape::series what;
  };

  /// The families of ours that come from their own source on this node: a user's file of the same name is
  /// then a collision. Where the source is absent, a user may bring the family by other ways (a machine
  /// without RAPL but with a power meter).
  void find_owned_families() {
    for (const wire::series_info& s : announced_.series) {
      const metrics::family* f = metrics::find(s.family);
      if (f != nullptr && f->source == announced_.groups[s.group].source) owned_.insert(f->name);
    }
  }
  bool is_own(const wire::series_info& s) const {
    const metrics::family* f = metrics::find(s.family);
    return f != nullptr && (f->source == announced_.groups[s.group].source || !owned_.contains(f->name));
  }

  void refuse_series(std::string_view family, std::string_view why) {
    ++made_.refused_series;
    tell(fmt::format("series {} is refused: {}", shown(family), why));
  }
  void tell(std::string sentence) {
    if (made_.refusals.size() < refusals_told) made_.refusals.push_back(std::move(sentence));
  }

  void claim_names(std::uint32_t i) {
    const wire::series_info& from = announced_.series[i];
    if (from.family.empty()) return refuse_series("", "it could not be read");
    const metrics::family* f = metrics::find(from.family);
    const bool own = is_own(from);
    if (f != nullptr && !own)
      return refuse_series(from.family,
                           "our own source gives this family already; rename it in the file or exporter");
    if (!own && flats_.contains(from.family))
      return refuse_series(from.family, "its name is the flat name of another series; rename it");

    shape::series s{from.family, from.labels, {}, from.exponent, from.type, from.group, from.help};
    if (f != nullptr) put_in_order(s.labels, *f);
    if (!identities_.insert(identity_of(s)).second)
      return refuse_series(from.family, "the same family and labels are announced twice");
    families_.insert(s.family);
    s.flat = claim_flat(s, f);
    claims_[i] = {true, std::move(s)};
  }

  std::string claim_flat(const shape::series& s, const metrics::family* f) {
    const bool per_cpu = f != nullptr ? f->per_cpu
                                      : std::any_of(s.labels.begin(), s.labels.end(),
                                                    [](const auto& l) { return l.first == "cpu"; });
    if (s.labels.empty() || per_cpu) return {};
    std::string flat =
        metrics::flat_name(s.family, f != nullptr ? metrics::flat_labels(*f, s.labels) : s.labels);
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
    for (const wire::group_info& g : s.groups)
      s.stale_after_ns.push_back(std::int64_t{g.stale_after_ms} * 1'000'000);
  }

  const wire::catalog& announced_;
  made_shape made_;
  std::vector<claim> claims_;
  // An agent chooses these texts.
  std::unordered_set<std::string_view> owned_;  // but these: they are names of ours
  std::unordered_set<std::string, keyed_hash> identities_, families_, flats_;
};

void mix(std::size_t& h, std::size_t v) noexcept { h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2); }
void mix(std::size_t& h, std::string_view text) noexcept { mix(h, keyed_hash{}(text)); }

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

bool same_groups(const shape& a, const shape& b) {
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const auto& x, const auto& y) {
                      return x.source == y.source && x.name == y.name && x.period_ms == y.period_ms &&
                             x.stale_after_ms == y.stale_after_ms;
                    });
}

}  // namespace

std::size_t series_hash(std::string_view family, const metrics::label_set& labels) noexcept {
  std::size_t sum = 0;
  for (const auto& [name, value] : labels) {
    std::size_t one = 0;
    mix(one, name);
    mix(one, value);
    sum += one;
  }
  mix(sum, family);
  return sum;
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

result<made_shape> make_shape(const wire::catalog& announced, const catalog_limits& limits) {
  if (auto ok = check_bounds(announced, limits); ok.has_error()) return ok.error();
  return maker(announced).run();
}

std::shared_ptr<const shape> shape_pool::intern(shape s) {
  const std::size_t key = hash_of(s);
  for (auto [at, end] = known_.equal_range(key); at != end; ++at) {
    auto known = at->second.lock();
    if (known && known->announced == s.announced && known->places == s.places && known->all == s.all &&
        same_groups(*known, s))
      return known;
  }
  if (known_.size() >= sweep_at_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, known_.size() * 2);
  }
  auto fresh = std::make_shared<const shape>(std::move(s));
  known_.emplace(key, fresh);
  return fresh;
}

}  // namespace binnacle::store
