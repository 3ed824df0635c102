#include "tests/aggregator/policy/world.hpp"

#include <optional>
#include <random>

namespace engine_property_test {

// Random sequences of samples, silences and absences are judged twice: by the engine, and by a program
// without a state machine, which looks at the whole history each time and applies the definitions.
namespace {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

struct arrival {
  instant at;
  std::optional<int> value;  // none: the store said that the value is absent
  instant read_at;
  duration life;
};

struct oracle_rule {
  std::string metric;
  comparison op;
  int target;
  std::optional<int> clear;
  duration hold{};
  std::optional<duration> stale;
};

/// Whether large values are the bad ones.
bool looks_up(const oracle_rule& r) {
  return r.op == comparison::greater_than || r.op == comparison::greater_or_equal;
}

class oracle {
 public:
  oracle(std::vector<oracle_rule> rules, logic op, bool freezes)
      : rules_(std::move(rules)), op_(op), freezes_(freezes) {}

  /// Judges at `now`. To be called in order, at every instant at which something may change: whether a node
  /// is frozen depends on the last judgement.
  bool violating(const std::map<std::string, std::vector<arrival>>& history, instant now) {
    std::size_t known_on = 0, known_off = 0, last_on = 0, last_off = 0;
    for (const oracle_rule& r : rules_) {
      const auto found = history.find(r.metric);
      const std::vector<arrival> none;
      const auto& all = found == history.end() ? none : found->second;
      const bool k = known(r, all, now);
      const bool o = on(r, all, now);
      ++(k ? (o ? known_on : known_off) : (o ? last_on : last_off));
    }
    const bool all = op_ == logic::all_of;
    bool v = false;
    if (!freezes_) {
      v = all ? known_on == rules_.size() : known_on > 0;
    } else if (all ? known_off > 0 : known_on > 0) {
      v = !all;
    } else if (last_on + last_off == 0) {
      v = all;
    } else {
      v = was_ && (all ? last_off == 0 : last_on > 0);
    }
    was_ = v;
    return v;
  }

 private:
  static duration life(const oracle_rule& r, const arrival& a) { return r.stale.value_or(a.life); }
  static bool live(const oracle_rule& r, const arrival& a, instant t) {
    return a.value && t < a.read_at + life(r, a);
  }

  static bool known(const oracle_rule& r, const std::vector<arrival>& all, instant now) {
    return !all.empty() && live(r, all.back(), now);
  }
  /// Whether there was no value at some moment between arrival `i` and the next arrival (or `now`).
  static bool gap_after(const oracle_rule& r, const std::vector<arrival>& all, std::size_t i, instant now) {
    const instant end = i + 1 < all.size() ? all[i + 1].at : now;
    return !live(r, all[i], end);
  }
  static bool holds(const oracle_rule& r, const arrival& a) {
    switch (r.op) {
      case comparison::less_than: return *a.value < r.target;
      case comparison::less_or_equal: return *a.value <= r.target;
      case comparison::equals: return *a.value == r.target;
      case comparison::greater_or_equal: return *a.value >= r.target;
      case comparison::greater_than: return *a.value > r.target;
    }
    return false;
  }
  static bool clears(const oracle_rule& r, const arrival& a) {
    if (!r.clear) return !holds(r, a);
    return looks_up(r) ? *a.value < *r.clear : *a.value > *r.clear;
  }
  /// Whether there was a run of values that violate, long enough and without a gap, and nothing has cleared
  /// it since.
  bool on(const oracle_rule& r, const std::vector<arrival>& all, instant now) const {
    for (std::size_t j = 0; j < all.size(); ++j) {
      // Values that were too old when they came count as absent.
      const auto counts = [&](std::size_t i) { return live(r, all[i], all[i].at); };
      bool served = false;
      for (std::size_t s = j + 1; s-- > 0;) {
        if (!counts(s) || !holds(r, all[s])) break;
        if (s < j && gap_after(r, all, s, now)) break;
        if (all[j].read_at - all[s].read_at >= r.hold) served = true;
      }
      if (!served) continue;
      bool stays = true;
      for (std::size_t i = j + 1; i < all.size(); ++i) {
        if (counts(i) && clears(r, all[i])) stays = false;
      }
      for (std::size_t i = j; i < all.size() && !freezes_; ++i) {
        if (gap_after(r, all, i, now)) stays = false;
      }
      if (stays) return true;
    }
    return false;
  }

  std::vector<oracle_rule> rules_;
  logic op_;
  bool freezes_;
  bool was_ = false;
};

class dice {
 public:
  explicit dice(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::mt19937 random_;
};

oracle_rule random_rule(dice& d) {
  oracle_rule r{std::string(1, static_cast<char>('x' + d.below(3))),
                static_cast<comparison>(d.below(5)),
                2 + d.below(3),
                {},
                {},
                {}};
  if (r.op != comparison::equals && d.one_in(2))
    r.clear = looks_up(r) ? r.target - d.below(3) : r.target + d.below(3);
  if (d.one_in(2)) r.hold = std::chrono::seconds(d.below(5));
  if (d.one_in(3)) r.stale = std::chrono::seconds(1 + d.below(6));
  return r;
}

std::string text(const oracle_rule& r) {
  std::string out =
      fmt::format("{{metricname: {}, operator: {}, target: {}", r.metric, to_string(r.op), r.target);
  if (r.clear) out += fmt::format(", {}: {}", looks_up(r) ? "clearBelow" : "clearAbove", *r.clear);
  if (r.hold > 0s) out += fmt::format(", for: {}s", r.hold / 1s);
  if (r.stale) out += fmt::format(", staleAfter: {}s", *r.stale / 1s);
  return out + "}";
}

}  // namespace

TEST_SUITE("aggregator/policy/engine/property") {
  TEST_CASE("random sequences give the verdicts of a brute-force evaluator") {
    for (unsigned seed = 0; seed < 400; ++seed) {
      dice d(seed);
      const bool freezes = d.one_in(2);
      const logic op = d.one_in(2) ? logic::all_of : logic::any_of;
      std::vector<oracle_rule> rules;
      std::string body = fmt::format("logicalOperator: {}, rules: [", to_string(op));
      for (int i = d.below(3); i >= 0; --i) {
        rules.push_back(random_rule(d));
        body += text(rules.back()) + (i > 0 ? "," : "]");
      }
      const std::string policy = manifest({{freezes ? "deschedule" : "dontschedule", body}});
      CAPTURE(seed);
      CAPTURE(policy);
      oracle brute(rules, op, freezes);
      world w;
      w.apply(policy);
      std::map<std::string, std::vector<arrival>> history;
      std::string diary;
      for (int step = 0; step < 80; ++step) {
        // Half seconds, so that expiries (whole seconds) fall between the steps as well as on them.
        const duration later = d.below(4) * 500ms;
        // The brute force must see every instant at which a value may have expired.
        for (duration t = 0ms; t < later; t += 500ms) brute.violating(history, w.now + t);
        w.at(w.time() + later);
        const std::string metric(1, static_cast<char>('x' + d.below(3)));
        const int what = d.below(10);
        if (what == 0) {
          history[metric].push_back({w.now, {}, w.now, {}});
          w.absent('a', metric);
          diary += fmt::format("{}: {} absent\n", w.time() / 1ms, metric);
        } else if (what < 9) {
          const int value = d.below(7);
          // Read times of one series do not go back.
          const instant last = history[metric].empty() ? instant{} : history[metric].back().read_at;
          const duration age = std::min<duration>(d.one_in(4) ? d.below(6) * 1s : 0s, w.now - last);
          const duration life = (2 + d.below(4)) * 1s;
          history[metric].push_back({w.now, value, w.now - age, life});
          w.sample('a', metric, {{value, 0}, w.now - age, w.now - age + life, absence::none});
          diary +=
              fmt::format("{}: {}={} age {} life {}\n", w.time() / 1ms, metric, value, age / 1ms, life / 1ms);
        } else {
          w.apply(
              policy + "---\n" +
              manifest({{"dontschedule", "rules: [{metricname: x, operator: Equals, target: 1}]"}}, "other"));
        }
        const auto kind = freezes ? strategy_kind::deschedule : strategy_kind::dontschedule;
        CAPTURE(diary);
        REQUIRE(w.of('a', kind).violating == brute.violating(history, w.now));
      }
    }
  }
}

}  // namespace engine_property_test
