// What placing pods by watts saves: Binnacle's own prioritize call and learning code on simulated fleets of
// real servers' curves, beside other rules and the optimum. Prints Markdown; the same figures on every
// machine, but for the last table.
//   build/tests/bench/power/binnacle-power
#include "aggregator/predict/objective.hpp"
#include "tests/bench/power/churn.hpp"
#include "tests/bench/power/fill.hpp"
#include "tests/bench/power/learned.hpp"

#include <fmt/core.h>

#include <ctime>
#include <string>
#include <string_view>

namespace binnacle::bench {
namespace {

constexpr wish four_cores{4, false};
constexpr wish hundredth{0.01, true};

void title(std::string_view text) { fmt::print("\n## {}\n\n", text); }

void head_by_load(std::string_view first) {
  fmt::print(
      "| {} | 10 % | 20 % | 30 % | 40 % | 50 % | 60 % | 70 % | 80 % | 90 % "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n",
      first);
}

void line(std::string_view name, const by_load<double>& values, int digits = 1) {
  fmt::print("| {} |", name);
  for (const double v : values) fmt::print(" {:.{}f} |", v, digits);
  fmt::print("\n");
}

struct named_rule {
  std::string_view name;
  rule by;
};
constexpr named_rule all_rules[] = {
    {"pack", rule::pack},         {"WAO v1", rule::wao_v1},        {"WAO v2", rule::wao_v2},
    {"increase", rule::increase}, {"**best chord**", rule::chord},
};

/// Savings of every rule against spreading.
void savings(const fleet& nodes, wish pod, ties t) {
  const auto base = fill(nodes, rule::spread, pod, t).watts;
  by_load<double> kilowatts = base;
  for (double& w : kilowatts) w /= 1000;
  head_by_load("load");
  line("spread, kW", kilowatts, 2);
  for (const auto& [name, by] : all_rules) line(name, saved(base, fill(nodes, by, pod, t).watts));
  line("optimum", saved(base, least_by_load(nodes, pod)));
}

fleet wao_fleet(std::size_t lenovo, std::size_t supermicro) {
  fleet out = make_fleet({&wao_lenovo(), 1}, lenovo);
  for (node& n : make_fleet({&wao_supermicro(), 1}, supermicro)) {
    n.kind = 1;
    out.push_back(std::move(n));
  }
  return out;
}

void known_curves() {
  title("64 servers of eight models, pods of 4 cores (table A)");
  savings(make_fleet(spec_servers(), 8), four_cores, ties::random);
  title("The same, pods of 1 % of each server (table C)");
  savings(make_fleet(spec_servers(), 8), hundredth, ties::random);
  for (const auto& [lenovo, supermicro, cores] :
       {std::tuple{16, 16, 1.0}, {16, 16, 4.0}, {8, 24, 1.0}, {24, 8, 1.0}}) {
    title(fmt::format(
        "WAO's own models: {} Lenovo, {} Supermicro, pods of {} CPU, equals to the emptier (table E)", lenovo,
        supermicro, cores));
    savings(wao_fleet(static_cast<std::size_t>(lenovo), static_cast<std::size_t>(supermicro)), {cores},
            ties::emptier);
  }
}

void learned_curves() {
  const auto truth = make_fleet(spec_servers(), 8);
  const auto base = fill(truth, rule::spread, hundredth, ties::random).watts;
  title("Learned curves, ten minutes of wandering load, pods of 1 % of each server (table D)");
  head_by_load("what the nodes know");
  const auto show = [&](std::string_view name, rule by, const fleet& nodes) {
    line(name, saved(base, fill(nodes, by, hundredth, ties::random).watts));
  };
  show("the true curve: best chord", rule::chord, truth);
  show("learned, 1 % noise", rule::chord, after({.noise = 0.01}, truth, spec_servers()));
  show("learned, 3 % noise", rule::chord, after({.noise = 0.03}, truth, spec_servers()));
  show("learned, 3 % noise: increase", rule::increase, after({.noise = 0.03}, truth, spec_servers()));
  show("each node alone, 1 % noise", rule::chord,
       after({.noise = 0.01, .by_class = false}, truth, spec_servers()));
  show("loads up to 50 % seen only", rule::chord,
       after({.noise = 0.01, .up_to = 0.5}, truth, spec_servers()));
  show("true curves: increase", rule::increase, truth);
}

/// Models that are wrong: each point of each node by 10 % (one sigma), and one kind of server by 30 %
/// everywhere.
void wrong_models() {
  const auto truth = make_fleet(spec_servers(), 8);
  dice random(1);
  const belief noisy = [&random](const server& s, std::size_t) {
    auto w = s.watts;
    for (double& v : w) v *= std::max(0.5, 1 + 0.1 * random.normal());
    return w;
  };
  const belief one_wrong = [](const server& s, std::size_t kind) {
    auto w = s.watts;
    for (double& v : w) v *= kind == 2 ? 0.7 : 1;
    return w;
  };
  title("Wrong models, the fleet of table A");
  head_by_load("what is wrong");
  const auto base = fill(truth, rule::spread, four_cores, ties::random).watts;
  for (const auto& [name, known] : {std::pair<std::string_view, belief>{"nothing", as_it_is},
                                    {"each point by 10 %", noisy},
                                    {"one model 30 % too low", one_wrong}}) {
    const auto nodes = make_fleet(spec_servers(), 8, 1, known);
    for (const auto& [rule_name, by] : {named_rule{"WAO v2", rule::wao_v2}, {"best chord", rule::chord}})
      line(fmt::format("{}: {}", name, rule_name),
           saved(base, fill(nodes, by, four_cores, ties::random).watts));
  }
}

void price_of_packing() {
  title("The price: what share of its cores the fullest node has given away, the fleet of table A");
  head_by_load("rule");
  const auto percent = [](by_load<double> v) {
    for (double& x : v) x *= 100;
    return v;
  };
  const auto whole = make_fleet(spec_servers(), 8);
  for (const auto& [name, by] :
       {named_rule{"spread", rule::spread}, {"WAO v2", rule::wao_v2}, {"best chord", rule::chord}})
    line(name, percent(fill(whole, by, four_cores, ties::random).fullest), 0);
  const auto base = fill(whole, rule::spread, four_cores, ties::random).watts;
  for (const double cap : {0.9, 0.8, 0.7}) {
    const auto capped = fill(make_fleet(spec_servers(), 8, cap), rule::chord, four_cores, ties::random);
    line(fmt::format("best chord, maxLoad {}", cap), percent(capped.fullest), 0);
    line(fmt::format("what it saves then, %"), saved(base, capped.watts));
  }
}

void pods_that_go() {
  title("Pods that come and go (lives are exponential), the fleet of table A");
  fmt::print(
      "| load, pods | WAO v2 | best chord | with a descheduler of nodes below 20 % | evictions for 100 pods "
      "| "
      "optimum at every moment |\n|---|---|---|---|---|---|\n");
  const auto nodes = make_fleet(spec_servers(), 8);
  const auto show = [&](const std::string& name, const churn& plain) {
    const double base = live(nodes, rule::spread, plain).watts;
    const auto less = [&](double w) { return 100 * (1 - w / base); };
    auto with_descheduler = plain;
    with_descheduler.empty_below = 0.2;
    const auto swept = live(nodes, rule::chord, with_descheduler);
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", name,
               less(live(nodes, rule::wao_v2, plain).watts), less(live(nodes, rule::chord, plain).watts),
               less(swept.watts), 100 * swept.moved, less(least_while_living(nodes, plain)));
  };
  for (const double load : {0.3, 0.5, 0.7}) {
    show(fmt::format("{:.0f} %, 4 cores", 100 * load), {.load = load});
    show(fmt::format("{:.0f} %, 1, 2, 4 or 8 cores", 100 * load), {.load = load, .sizes = {1, 2, 4, 8}});
  }
  for (const double load : {0.1, 0.2, 0.4}) {
    show(fmt::format("falls from 80 to {:.0f} %, 1, 2, 4 or 8 cores", 100 * load),
         {.load = load, .sizes = {1, 2, 4, 8}, .begins_at = 0.8});
  }
}

/// What the product's scores cost without the call around them (bench_extender has the whole): 5,000
/// candidates, and model calls a pod.
void cost_of_a_decision() {
  title("The cost of a decision on this machine (5,000 candidates)");
  auto nodes = make_fleet(spec_servers(), 625);
  dice random(1);
  for (node& n : nodes) n.used = random.share() * n.truth.cores();
  std::vector<predict::candidate> candidates;
  for (const node& n : nodes) candidates.push_back({&n.believed, n.used});
  std::vector<predict::placing> placings(nodes.size());
  std::vector<std::uint8_t> scores(nodes.size());
  constexpr int rounds = 200;
  const auto start = std::clock();
  std::size_t sum = 0;
  for (int i = 0; i < rounds; ++i) {
    predict::score(predict::objective::best_chord, {.cores = 4}, candidates, placings, scores);
    sum += scores[static_cast<std::size_t>(i)];
  }
  const double took = 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print(
      "Look-ups and scores: {:.0f} µs ({} rounds, check {}). Calls to a model: none; WAO asks for two "
      "predictions "
      "a candidate.\n",
      took / rounds, rounds, sum);
}

}  // namespace
}  // namespace binnacle::bench

int main() {
  using namespace binnacle::bench;
  fmt::print(
      "# What placing pods by watts saves\n\nSavings against spreading, in percent of the fleet's watts. "
      "Every "
      "server stays on. Load: the share of the fleet's cores that is given away.\n");
  known_curves();
  learned_curves();
  wrong_models();
  price_of_packing();
  pods_that_go();
  cost_of_a_decision();
}
