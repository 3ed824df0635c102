#include "aggregator/extender/watts_loop.hpp"

#include "aggregator/predict/node_load.hpp"

#include <algorithm>
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
      : q_(q),
        loads_(loads),
        candidates_(candidates),
        can_be_(q.load_rule.values->plausible()),
        question_(q.models.number({q.by, q.pod, q.pod_usage})) {
    out_.costs.reserve(candidates.size());
    out_.cells.reserve(loads.size());
  }

  template <predict::objective By>
  watts_answer run() {
    std::array<seen, ahead> seen_ahead;
    for (std::size_t i = 0; i < candidates_.size() + ahead; ++i) {
      seen& next = seen_ahead[i % ahead];
      if (i >= ahead && !next.answered) place<By>(next, i - ahead);
      if (i < candidates_.size()) look_at(i, next);
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t ahead = 8;  // hides a fetch from memory behind the work on those before
  static constexpr std::size_t at_once = 32;

  /// What is known of a candidate before the pod is placed on it.
  struct seen {
    const predict::known_power* model = nullptr;
    std::optional<double> share;          // of its cores that is busy
    double asked_for = 0;                 // cores, by pods in flight
    predict::last_watts* keep = nullptr;  // where the answer is kept for the next call; null: nowhere
    bool answered = false;                // by the last call's answer
  };

  /// Writes to `out` only at the end: members that are read back from memory cost a third of the loop.
  [[gnu::always_inline]] void look_at(std::size_t i, seen& out) {
    if (i + ahead < candidates_.size()) {
      const std::uint32_t later = store::index(candidates_[i + ahead].id);
      if (question_ != 0) fetch(q_.models.last(later), 1);
      fetch(q_.models.place_of(later), 1);
    }
    if (i % at_once == 0) {
      open(out_.costs, candidates_.size());
      open(out_.cells, loads_.size());
    }
    const store::node_id id = candidates_[i].id;
    if (id == decision::no_node) {
      out = {};
      return;
    }
    const std::uint32_t at = store::index(id);
    const double asked_for = at < q_.in_flight.size() ? q_.in_flight[at].cores : 0;
    std::optional<double> share;
    if (i < loads_.size()) {
      if (loads_[i].present()) share = share_of_(loads_[i].value());
    } else if (const store::sample s = q_.load_rule.load(id); s.present(q_.now)) {
      share = share_of_(s.value);
    }
    if (share && !can_be_.holds(*share)) {
      out_.implausible.push_back(static_cast<std::uint32_t>(i));
      share.reset();
    }
    predict::last_watts* const last = share && question_ != 0 ? q_.models.last(at) : nullptr;
    out.answered = last != nullptr && last->answers(question_, *share, asked_for);
    if (out.answered) return answer_again(*last, i);
    out.model = q_.models.find(at);
    out.share = share;
    out.asked_for = asked_for;
    out.keep = last;
    if (share && out.model != nullptr) fetch(out.model->best.from_on(*share), 3);
  }

  /// Makes the next elements of `v`, up to `all`. Their memory was fetched when those before were made: it
  /// was last used by an old record, so that writing them in one go would wait for most of its lines.
  template <class T>
  static void open(std::vector<T>& v, std::size_t all) {
    v.resize(std::min(v.size() + at_once, all));
    if (v.size() < all) fetch(v.data() + v.size(), at_once * sizeof(T) / 64);
  }

  [[gnu::always_inline]] void answer_again(const predict::last_watts& last, std::size_t i) {
    candidates_[i].what = candidate_outcome::scored;
    ++out_.opinions;
    if (last.told.is != predict::cost::known::error) ++out_.figures;
    out_.costs[i].is = last.told.is;
    out_.costs[i].watts = last.watts;
    if (i < out_.cells.size()) out_.cells[i] = last.told;
  }

  /// Writes the members of costs and cells one by one, in place. If a whole one is made elsewhere and then
  /// copied, g++ copies it by whole words, and these reads stall on the narrower writes just before.
  template <predict::objective By>
  void place(const seen& of, std::size_t i) {
    decision::watts_cell& w = i < out_.cells.size() ? out_.cells[i] : unlisted_;
    predict::cost& c = out_.costs[i];
    predict::node_load load{0, q_.pod_usage * of.asked_for};
    const bool known = of.share && of.model != nullptr;
    candidates_[i].what = known ? candidate_outcome::scored : candidate_outcome::unscored;
    if (known) {
      load = predict::load_of(of.model->best, *of.share, of.asked_for, q_.pod_usage);
      const auto placing = predict::placing_on<By>(q_.pod, {&of.model->best, load.cores()});
      ++out_.opinions;
      if (placing.costs.is != predict::cost::known::error) ++out_.figures;
      c.is = placing.costs.is;
      c.watts = placing.costs.watts;
      w.now = static_cast<float>(placing.now);
      w.with = static_cast<float>(placing.with);
      w.per_core = static_cast<float>(placing.per_core);
      w.is = placing.costs.is;
    }
    w.load = static_cast<float>(load.measured);
    w.in_flight = static_cast<float>(load.in_flight);
    if (of.model != nullptr) w.model = of.model->about;
    if (known && of.keep != nullptr)
      *of.keep = predict::last_watts{question_, *of.share, of.asked_for, c.watts, w};
  }

  const watts_question q_;
  const std::span<const decision::cell> loads_;
  const std::span<decision::candidate> candidates_;
  const metrics::plausible_range can_be_;
  const std::uint64_t question_;  // 0: answers are not kept
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
