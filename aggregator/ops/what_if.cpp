#include "aggregator/ops/what_if.hpp"

#include "aggregator/ops/power_json.hpp"
#include "aggregator/policy/published/refusal.hpp"
#include "aggregator/predict/node_load.hpp"
#include "aggregator/predict/what_if.hpp"
#include "aggregator/store/hardware.hpp"
#include "aggregator/store/walk.hpp"
#include "common/text/first_few.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <optional>

namespace binnacle::ops {
namespace {

// About a millisecond each at most.
constexpr std::size_t looked_at_per_slice = 500;
constexpr std::size_t pods_per_slice = 2'000;
constexpr std::size_t rows_per_slice = 250;
constexpr std::size_t most_named = 100;   // nodes, for each reason
constexpr std::size_t most_policies = 5;  // that a message names

/// Why a node takes no pod.
enum class left_out : std::uint8_t {
  refused,    // by the policy's dontschedule
  no_load,    // there is no CPU load of it now, or an impossible one
  no_server,  // no model server has said what it draws, and the policy asks for no other model
  no_meter,   // no model, and no watts to learn one from
  bad_rated,  // the same, and its rated watts cannot be used
  learning,   // no model yet
  no_figure,  // WAO's rules have none for such a pod
};
constexpr std::array reasons = {left_out::refused,  left_out::no_load,   left_out::no_server,
                                left_out::no_meter, left_out::bad_rated, left_out::learning,
                                left_out::no_figure};

std::string_view to_string(left_out why) noexcept {
  switch (why) {
    case left_out::refused: return "refused";
    case left_out::no_load: return "noLoad";
    case left_out::no_server: return "noServer";
    case left_out::no_meter: return "noMeter";
    case left_out::bad_rated: return "badRated";
    case left_out::learning: return "learning";
    case left_out::no_figure: return "noFigure";
  }
  return "?";
}

struct named_nodes {
  std::size_t count = 0;
  std::vector<std::string> first;

  void add(const std::string& name) {
    if (count++ < most_named) first.push_back(name);
  }
  void write(json_writer& out) const {
    out.field("count", count).key("nodes").begin_array();
    for (const std::string& name : first) out.value(name);
    out.end_array();
  }
};

/// A node that could take pods (counted as "knownNodes"). It is a copy, because nodes and models may change
/// between two slices.
struct known_node {
  std::string name;
  std::shared_ptr<const predict::model> model;
  predict::chords best;
  predict::node_load load;
};

class what_if_answer final : public http::slices {
 public:
  what_if_answer(const policy::view& nodes, imagined_pods q, const in_flight_reader& in_flight)
      : nodes_(nodes),
        asked_(std::move(q)),
        strategy_(*asked_.policy->by_watts()),
        filter_(asked_.policy->find(policy::yield::refusals)),
        judging_stopped_(nodes.judging_stopped(asked_.now)),
        plausible_(strategy_.rules.front().values->plausible()),
        place_(nodes),
        pod_(demand()) {
    if (in_flight && asked_.policy->damping == policy::herd_damping::enabled)
      in_flight_ = in_flight(strategy_.rules.front(), asked_.now);
  }

  bool step() override {
    if (!placed_by_) return look();
    if (!all_placed_) return place();
    return write();
  }

  http::response take() override {
    out_.end_array().key("full").begin_object();
    full_.write(out_);
    out_.end_object().key("leftOut").begin_array();
    for (const left_out why : reasons) {
      const named_nodes& group = left_out_[static_cast<std::size_t>(why)];
      if (group.count == 0) continue;
      out_.begin_object().field("reason", to_string(why));
      group.write(out_);
      out_.end_object();
    }
    out_.end_array().end_object();
    text_ += '\n';
    return http::response::json(std::move(text_));
  }

 private:
  predict::demand demand() const {
    predict::pod_cpu one;
    one.containers.push_back(
        {predict::container_cpu::kind::app, static_cast<double>(asked_.cpu.nano) * 1e-9, std::nullopt});
    return predict::demand_of(one, strategy_.power.pod_usage, strategy_.power.objective);
  }

  bool refused(store::node_id id) const {
    if (filter_ == nullptr) return false;
    return policy::refuses(
        (judging_stopped_ ? policy::verdict_while_stopped(*filter_) : filter_->verdicts->load(id)).what);
  }

  void leave_out(const std::string& name, left_out why) {
    left_out_[static_cast<std::size_t>(why)].add(name);
  }

  /// Why a node has no model that was learned.
  left_out without_model(const store::node_view& node) const {
    if (node.cells == nullptr) return left_out::no_meter;
    if (store::first_present(*node.cells, policy::power_metric, asked_.now).series != nullptr)
      return left_out::learning;
    return trouble_of_rated(*node.cells, asked_.now).empty() ? left_out::no_meter : left_out::bad_rated;
  }

  void look_at(const store::node_view& node) {
    if (refused(node.id)) return leave_out(node.name, left_out::refused);
    const store::sample share = strategy_.rules.front().load(node.id);
    if (!share.present(asked_.now) || !plausible_.holds(to_double(share.value)))
      return leave_out(node.name, left_out::no_load);
    const std::size_t at = store::index(node.id);
    auto model = nodes_.models_for(strategy_.power).share(store::index(node.id));
    if (model == nullptr) {
      if (!strategy_.power.takes_learned()) return leave_out(node.name, left_out::no_server);
      return leave_out(node.name, without_model(node));
    }
    const policy::power_terms& terms = strategy_.power;
    predict::chords best(model->power, predict::has_cap(terms.objective) ? terms.max_load : 1);
    const double asked_for = at < in_flight_.size() ? in_flight_[at] : 0;
    const auto load = predict::load_of(best, to_double(share.value), asked_for, terms.pod_usage);
    known_.push_back({node.name, std::move(model), std::move(best), load});
  }

  bool look() {
    for (std::size_t i = 0; i < looked_at_per_slice; ++i) {
      const store::node_view* node = place_.next();
      if (node != nullptr) {
        look_at(*node);
        continue;
      }
      std::vector<predict::candidate> candidates;
      candidates.reserve(known_.size());
      for (const known_node& n : known_) candidates.push_back({&n.best, n.load.cores()});
      placed_by_.emplace(strategy_.power.objective, pod_, std::move(candidates));
      break;
    }
    return true;
  }

  bool place() {
    const std::size_t wanted = std::min(pods_per_slice, asked_.pods - placed_);
    const std::size_t found = placed_by_->place(wanted);
    placed_ += found;
    all_placed_ = found < wanted || placed_ == asked_.pods;
    if (all_placed_) write_head();
    return true;
  }

  double watts_then(std::size_t node) const {
    return known_[node].model->power.watts(placed_by_->load_of(node));
  }
  static double watts_now(const known_node& n) { return n.model->power.watts(n.load.cores()); }

  void write_head() {
    double now = 0, then = 0;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      now += watts_now(known_[i]);
      then += watts_then(i);
      const auto next = placed_by_->next_on(i).is;
      if (next == predict::cost::known::over) full_.add(known_[i].name);
      if (next == predict::cost::known::error) leave_out(known_[i].name, left_out::no_figure);
    }
    const policy::power_terms& terms = strategy_.power;
    out_.begin_object().field("time", asked_.time).field("policy", asked_.policy->key.text());
    out_.field("mode", policy::to_string(asked_.policy->how));
    out_.field("objective", predict::to_string(terms.objective));
    if (predict::has_cap(terms.objective)) out_.key("maxLoad").raw(fmt::format("{}", terms.max_load));
    out_.field("pods", asked_.pods).field("cpu", canonical(asked_.cpu));
    figure("podCores", pod_.in_flight, 3);
    out_.field("placed", placed_).field("knownNodes", known_.size());
    figure("wattsNow", now, 1);
    figure("wattsThen", then, 1);
    out_.key("nodes").begin_array();
  }

  bool write() {
    const auto& filled = placed_by_->filled();
    for (std::size_t i = 0; i < rows_per_slice && written_ < filled.size(); ++i)
      write_row(filled[written_++]);
    return written_ < filled.size();
  }

  void write_row(std::size_t at) {
    const known_node& n = known_[at];
    const predict::model& m = *n.model;
    out_.begin_object().field("node", n.name).field("pods", placed_by_->pods_on(at));
    figure("cores", m.power.cores(), 0);
    figure("loadCores", n.load.measured, 3);
    figure("inFlightCores", n.load.in_flight, 3);
    figure("loadCoresThen", placed_by_->load_of(at), 3);
    figure("wattsNow", watts_now(n), 1);
    figure("wattsThen", watts_then(at), 1);
    out_.field("full", placed_by_->next_on(at).is == predict::cost::known::over);
    out_.field("model", predict::to_string(m.from));
    out_.field("modelAgeSeconds",
               std::chrono::duration_cast<std::chrono::seconds>(asked_.now - m.made).count());
    out_.field("coveredPercent", static_cast<int>(100 * m.covered));
    if (m.idle_guessed()) out_.field("idleGuessed", true);
    figure("noisePercent", 100 * m.noise, 1);
    out_.end_object();
  }

  void figure(std::string_view name, double value, int digits) { out_.key(name).figure(value, digits); }

  // Constant after construction.
  const policy::view& nodes_;
  const imagined_pods asked_;
  const policy::published_strategy& strategy_;
  const policy::published_strategy* const filter_;  // null: none
  const bool judging_stopped_;
  const metrics::plausible_range plausible_;  // of loads
  std::vector<double> in_flight_;

  store::walk place_;
  const predict::demand pod_;
  std::deque<known_node> known_;  // placed_by_ points into it
  std::optional<predict::what_if> placed_by_;
  std::size_t placed_ = 0, written_ = 0;
  bool all_placed_ = false;
  named_nodes full_;
  std::array<named_nodes, reasons.size()> left_out_;
  std::string text_;
  json_writer out_{text_};
};

}  // namespace

result<std::shared_ptr<const policy::published_policy>> policy_by_watts(const policy::policy_table& policies,
                                                                        std::string_view name) {
  std::vector<std::string> all;
  std::vector<std::shared_ptr<const policy::published_policy>> meant;
  for (const auto& [key, policy] : policies) {
    if (policy->by_watts() == nullptr) continue;
    all.push_back(key.text());
    if (name.empty() || name == key.name || name == all.back()) meant.push_back(policy);
  }
  if (meant.size() == 1) return meant.front();
  if (all.empty()) {
    return error{
        errc::not_found,
        "no policy with minimizepower is in force, so nothing is learned of nodes' watts: create one; "
        "mode: DryRun is enough"};
  }
  if (meant.empty()) {
    return error{errc::not_found, fmt::format("no policy '{}' with minimizepower is in force, only {}", name,
                                              first_few(all, most_policies))};
  }
  std::vector<std::string> several;
  for (const auto& p : meant) several.push_back(p->key.text());
  return error{errc::invalid_input,
               fmt::format("several policies have minimizepower: name one of {} (--policy NAMESPACE/NAME, or "
                           "the parameter policy)",
                           first_few(several, most_policies))};
}

std::unique_ptr<http::slices> what_if_json(const policy::view& nodes, imagined_pods q,
                                           const in_flight_reader& in_flight) {
  return std::make_unique<what_if_answer>(nodes, std::move(q), in_flight);
}

}  // namespace binnacle::ops
