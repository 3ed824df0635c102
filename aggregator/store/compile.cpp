// Names to plans. Evaluation is in derive.cpp.
#include "aggregator/store/derive.hpp"
#include "aggregator/store/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::store {

namespace {

using metrics::node_rule;
using indexes = std::vector<std::uint32_t>;

bool has_label(const shape::series& s, std::string_view name, std::string_view value) {
  return name.empty() || std::any_of(s.labels.begin(), s.labels.end(),
                                     [&](const auto& l) { return l.first == name && l.second == value; });
}

/// Which series of a family count: those that the name's own selector and the caller's filter let through.
struct selection {
  const metrics::resolved& name;
  const series_filter& more;

  bool keeps(const shape::series& s) const {
    return has_label(s, name.label, name.value) && (!more || more(s.labels));
  }
};

indexes select(const shape& s, std::string_view family, const selection& wanted) {
  indexes out;
  for (const std::uint32_t i : s.of_family(family)) {
    if (wanted.keeps(s.all[i])) out.push_back(i);
  }
  return out;
}

/// The series that `members` name and the selection keeps.
indexes select(const shape& s, std::span<const metrics::member> members, const selection& wanted) {
  indexes out;
  std::vector<bool> chosen(s.all.size());
  for (const metrics::member& m : members) {
    for (const std::uint32_t i : select(s, m.family, wanted)) {
      if (chosen[i] || !has_label(s.all[i], m.label, m.value)) continue;
      chosen[i] = true;
      out.push_back(i);
    }
  }
  return out;
}

/// The terms of `chosen` at their finest exponent. No terms if their exponents differ by more than 18 digits.
std::vector<plan::term> terms_of(const shape& s, const indexes& chosen, std::int8_t& exponent) {
  std::vector<plan::term> out;
  if (chosen.empty()) return out;
  const auto finer = [&](auto a, auto b) { return s.all[a].exponent < s.all[b].exponent; };
  exponent = s.all[*std::min_element(chosen.begin(), chosen.end(), finer)].exponent;
  out.reserve(chosen.size());  // every node may have a plan of its own
  for (const std::uint32_t i : chosen) {
    const auto factor = exact::power_of_ten(s.all[i].exponent - exponent);
    const auto small = factor ? exact::narrow(*factor) : std::nullopt;
    if (!small) return {};
    out.push_back({i, s.group_of[i], *small});
  }
  return out;
}

/// The counter behind each of the series. Empty unless every series has a counter of its own and one read
/// gives them all: a mean needs all counters and the time of one instant.
indexes integrals_of(const shape& s, const indexes& chosen) {
  indexes out;
  const std::uint16_t group = s.group_of[chosen.front()];
  for (const std::uint32_t i : chosen) {
    const std::uint32_t* counter = s.counter_of(i);
    if (counter == nullptr || s.group_of[*counter] != group || s.group_of[i] != group) return {};
    out.push_back(*counter);
  }
  return out;
}

/// The rule that fits the number of series: a selector may leave one series for a rule over many, and an
/// exporter may have many series where the rule is `sole`.
node_rule fitting(node_rule rule, const shape& s, const indexes& chosen) {
  if (rule == node_rule::ratio_of_sums) return rule;
  if (chosen.size() == 1) return node_rule::sole;
  if (rule != node_rule::sole) return rule;
  return s.all[chosen.front()].type == metrics::kind::counter ? node_rule::sum : node_rule::max;
}

void add_groups(plan& p, const std::vector<plan::term>& terms, const shape& s) {
  for (const plan::term& t : terms) {
    p.groups.push_back(t.group);
    p.longest_gap = std::max(p.longest_gap, duration(s.stale_after_ns[t.group]));
  }
}

struct choice {
  indexes numerator, denominator;
  node_rule rule = node_rule::sole;
};

choice choose(const shape& s, const metrics::resolved& name, const series_filter& keep) {
  choice c;
  const selection wanted{name, keep};
  const metrics::family* f = metrics::find(name.family);
  if (f == nullptr) {
    // A name of one of our own series hides a foreign family; make_shape() keeps the two apart already.
    if (const std::uint32_t* one = s.of_flat(name.family);
        one != nullptr && s.of_family(name.family).empty()) {
      if (wanted.keeps(s.all[*one])) c.numerator = {*one};
      return c;
    }
    if (s.of_family(name.family).empty() && !name.otherwise.empty()) {
      c.numerator = select(s, name.otherwise, wanted);
      return c;
    }
  }
  const node_rule rule = name.rule_given ? name.rule : f != nullptr ? f->rule : node_rule::sole;
  if (keep) {
    // A caller's selector speaks of the family's own series, also those that the node rule leaves out.
    c.numerator = select(s, name.family, wanted);
    if (c.numerator.size() == 1) return c;
    if (rule != node_rule::ratio_of_sums) {
      c.rule = rule;
      return c;
    }
  }
  if (f != nullptr && !name.rule_given) {
    c.rule = f->rule;
    if (f->rule == node_rule::ratio_of_sums) {
      c.numerator = select(s, f->members, wanted);
      c.denominator = select(s, f->denominator, wanted);
      return c;
    }
    c.numerator = select(s, f->members, wanted);
  }
  // These read the family's own series: foreign families, families without members, aliases with a rule of
  // their own, and aliases whose selector names series that the node rule leaves out.
  if (c.numerator.empty() && (f == nullptr || f->members.empty() || name.rule_given || !name.label.empty())) {
    c.numerator = select(s, name.family, wanted);
  }
  c.rule = rule;
  return c;
}

}  // namespace

plan compile(const shape& s, const metrics::resolved& name, const series_filter& keep) {
  plan p;
  choice c = choose(s, name, keep);
  if (c.numerator.empty()) return p;

  p.rule = fitting(c.rule, s, c.numerator);
  p.terms = terms_of(s, c.numerator, p.exponent);
  p.result_exponent = p.exponent;
  if (p.rule == node_rule::ratio_of_sums) {
    const metrics::family* f = metrics::find(name.family);
    p.denominator = terms_of(s, c.denominator, p.denominator_exponent);
    if (p.denominator.empty()) return p;
    p.result_exponent = f != nullptr ? f->exponent : std::int8_t{-4};
  } else if (p.rule == node_rule::mean) {
    p.result_exponent = static_cast<std::int8_t>(std::max(p.exponent - 1, -18));
  }
  if (p.terms.empty()) return p;
  p.known = true;
  p.map = make_linear(name.scale, name.offset, p.result_exponent);
  if (p.rule == node_rule::sole || p.rule == node_rule::sum) {
    p.integral = terms_of(s, integrals_of(s, c.numerator), p.integral_exponent);
  }
  add_groups(p, p.terms, s);
  add_groups(p, p.denominator, s);
  std::sort(p.groups.begin(), p.groups.end());
  p.groups.erase(std::unique(p.groups.begin(), p.groups.end()), p.groups.end());
  p.groups.shrink_to_fit();
  return p;
}

plan compile(const shape& s, std::string_view metric, const metrics::resolved& name,
             const series_filter& keep) {
  if (!name.is_alias || s.of_family(metric).empty()) return compile(s, name, keep);
  metrics::resolved itself;
  itself.family = metric;
  return compile(s, itself, keep);
}

namespace {

/// The decimal as which somebody wrote this double: its shortest text.
std::optional<decimal> shortest(double value) noexcept {
  if (!std::isfinite(value)) return std::nullopt;
  const std::string text = fmt::format("{}", value);  // "-0.00125", "4.76837158203125e-07"
  std::int64_t mantissa = 0;
  int digits_after = 0;
  bool after = false, negative = false;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'e'; ++i) {
    if (text[i] == '-') negative = true;
    if (text[i] == '.') after = true;
    if (text[i] < '0' || text[i] > '9') continue;
    mantissa = mantissa * 10 + (text[i] - '0');
    digits_after += after;
  }
  int exponent = (i < text.size() ? std::atoi(text.c_str() + i + 1) : 0) - digits_after;
  while (mantissa != 0 && mantissa % 10 == 0) {
    mantissa /= 10;
    ++exponent;
  }
  if (mantissa == 0) return decimal{0, 0};
  // This is a factor and not a value: 1 / 2 MiB has 21 digits. A factor of 17 digits times a mantissa fits
  // 128 bits.
  if (exponent < -30 || exponent > 18) return std::nullopt;
  return decimal{negative ? -mantissa : mantissa, static_cast<std::int8_t>(exponent)};
}

}  // namespace

std::optional<linear> make_linear(double scale, double offset, std::int8_t exponent) noexcept {
  if (scale == 1 && offset == 0) return std::nullopt;
  const auto a = shortest(scale), b = shortest(offset);
  if (!a || !b) return std::nullopt;
  const int exactly = exponent + a->exponent;
  const int sensible =
      exponent + static_cast<int>(std::floor(std::log10(std::max(std::fabs(scale), 1e-18)))) - 1;
  linear map{*a, *b, 0};
  const int finest_offset = b->mantissa == 0 ? 18 : b->exponent;
  map.exponent =
      static_cast<std::int8_t>(std::clamp(std::min(std::max(exactly, sensible), finest_offset), -18, 18));
  return map;
}

}  // namespace binnacle::store
