#include "aggregator/extender/watts_loop.hpp"

#include "aggregator/predict/node_load.hpp"

#include <array>
#include <optional>

namespace binnacle::extender {
namespace {

using decision::candidate_outcome;

/// Has the processor fetch so many lines of the cache. The call is written into the loop at once: g++ would
/// take a function that only prefetches for one without effect, and leave its calls out.
[[gnu::always_inline]] inline void fetch(const void* from, std::size_t lines) noexcept {
  for (std::size_t i = 0; i < lines; ++i) __builtin_prefetch(static_cast<const char*>(from) + 64 * i);
}

/// Turns loads into doubles that are exact except for the last bit. The values of a column have the same
/// exponent, so each costs a multiplication instead of a division.
class share_of_cores {
 public:
  double operator()(decimal v) noexcept {
    if (v.exponent != exponent_) {
      exponent_ = v.exponent;
      unit_ = to_double({1, v.exponent});
    }
    return static_cast<double>(v.mantissa) * unit_;
  }

 private:
  std::int8_t exponent_ = 0;
  double unit_ = 1;
};

/// Goes through the candidates once. Each is looked up some places before the pod is placed on it, so that
/// its curve is there by then; and what is known of its node is fetched as many places before it is looked
/// up.
class watts_loop {
 public:
  watts_loop(const watts_question& q, std::span<const decision::cell> loads,
             std::span<decision::candidate> candidates)
      : q_(q), loads_(loads), candidates_(candidates), can_be_(q.load_rule.values->plausible()) {
    out_.costs.resize(candidates.size());
    out_.cells.resize(loads.size());
  }

  template <predict::objective by>
  watts_answer run() {
    std::array<seen, ahead> seen_ahead;
    for (std::size_t i = 0; i < candidates_.size() + ahead; ++i) {
      seen& next = seen_ahead[i % ahead];
      if (i >= ahead) place<by>(next, i - ahead);
      if (i < candidates_.size()) look_at(i, next);
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t ahead = 8;  // hides a fetch from memory behind the work on those before

  /// What is known of a candidate before the pod is placed on it.
  struct seen {
    const predict::known_power* model = nullptr;
    std::optional<double> share;  // of its cores that is busy
    double asked_for = 0;         // cores, by pods in flight
  };

  [[gnu::always_inline]] void look_at(std::size_t i, seen& out) {
    if (i + ahead < candidates_.size()) fetch(q_.models.place_of(store::index(candidates_[i + ahead].id)), 1);
    out = {};
    const store::node_id id = candidates_[i].id;
    if (id == decision::no_node) return;
    const std::uint32_t at = store::index(id);
    out.model = q_.models.find(at);
    if (at < q_.in_flight.size()) out.asked_for = q_.in_flight[at].cores;
    if (i < loads_.size()) {
      if (loads_[i].present()) out.share = share_of_(loads_[i].value());
    } else if (const store::sample s = q_.load_rule.load(id); s.present(q_.now)) {
      out.share = share_of_(s.value);
    }
    if (!out.share) return;
    if (!can_be_.holds(*out.share)) {
      out_.implausible.push_back(static_cast<std::uint32_t>(i));
      out.share.reset();
    } else if (out.model != nullptr) {
      fetch(out.model->best.from_on(*out.share), 3);
    }
  }

  /// Writes the members of costs and cells one by one, in place. If a whole one is made elsewhere and then
  /// copied, g++ copies it by whole words, and these reads stall on the narrower writes just before.
  template <predict::objective by>
  void place(const seen& of, std::size_t i) {
    decision::watts_cell& w = i < out_.cells.size() ? out_.cells[i] : unlisted_;
    predict::node_load load{0, q_.pod_usage * of.asked_for};
    const bool known = of.share && of.model != nullptr;
    candidates_[i].what = known ? candidate_outcome::scored : candidate_outcome::unscored;
    if (known) {
      load = predict::load_of(of.model->best, *of.share, of.asked_for, q_.pod_usage);
      const auto placing = predict::placing_on<by>(q_.pod, {&of.model->best, load.cores()});
      ++out_.opinions;
      if (placing.costs.is != predict::cost::known::error) ++out_.figures;
      out_.costs[i].is = placing.costs.is;
      out_.costs[i].watts = placing.costs.watts;
      w.now = static_cast<float>(placing.now);
      w.with = static_cast<float>(placing.with);
      w.per_core = static_cast<float>(placing.per_core);
      w.is = placing.costs.is;
    }
    w.load = static_cast<float>(load.measured);
    w.in_flight = static_cast<float>(load.in_flight);
    if (of.model != nullptr) w.model = of.model->about;
  }

  const watts_question q_;
  const std::span<const decision::cell> loads_;
  const std::span<decision::candidate> candidates_;
  const metrics::plausible_range can_be_;
  share_of_cores share_of_;
  decision::watts_cell unlisted_;
  watts_answer out_;
};

}  // namespace

watts_answer watts_of(const watts_question& q, std::span<const decision::cell> loads,
                      std::span<decision::candidate> candidates) {
  watts_loop all(q, loads, candidates);
  return predict::with_constant(q.by, [&](auto by) { return all.run<by>(); });
}

}  // namespace binnacle::extender
