#include "tests/aggregator/extender/fleet.hpp"

#include "aggregator/decision/explain.hpp"
#include "common/metrics/plausible.hpp"

#include <boost/json/parse.hpp>

namespace binnacle::test {
namespace {

bool holds(const policy::rule& r, decimal v) {
  const auto order = compare(v, r.target);
  if (r.op == policy::comparison::greater_than) return order > 0;
  return r.op == policy::comparison::less_than ? order < 0 : order == 0;
}

}  // namespace

std::map<std::string, int> fleet_answer::scores() const {
  std::map<std::string, int> out;
  const auto answer = boost::json::parse(body);
  for (const auto& s : answer.as_array())
    out[s.at("Host").as_string().c_str()] = static_cast<int>(s.at("Score").as_int64());
  return out;
}

fleet::fleet() {
  request.method = "POST";
  request.headers = {{"content-type", "application/json"}};
  settings.wall = [](instant) {
    return std::chrono::system_clock::time_point(std::chrono::seconds(1'767'225'600));
  };
}

store::node_id fleet::node(const std::string& name) {
  if (const auto known = data.ids().find(name); known != store::name_index::none) return known;
  const auto id = store::node_id(data.nodes().size());
  data.node(id, name);
  return id;
}

store::shared_column& fleet::column(const std::string& metric) {
  auto& c = columns_[metric];
  if (!c) {
    c = std::make_shared<store::shared_column>(store::column_spec{metric, {}, {}});
    c->set_plausible(metrics::plausible(metrics::resolve(metric)));
  }
  return *c;
}

void fleet::next_value(store::node_id id, const std::string& metric, decimal v) {
  store::sample s;
  s.value = v;
  s.read_at = now;
  s.expires_at = s.read_at + std::chrono::seconds(10);
  s.reason = absence::none;
  column(metric).store(id, s);
}
void fleet::value(const std::string& name, const std::string& metric, decimal v, duration age,
                  store::certainty sure) {
  store::sample s;
  s.value = v;
  s.read_at = now - age;
  s.expires_at = s.read_at + std::chrono::seconds(10);
  s.reason = absence::none;
  s.partial = sure != store::certainty::exact;
  s.sure = sure;
  column(metric).store(node(name), s);
  changed_ = true;
}

void fleet::absent(const std::string& name, const std::string& metric, absence why) {
  store::sample s;
  s.reason = why;
  column(metric).store(node(name), s);
  changed_ = true;
}

policy::rule fleet::rule(const std::string& metric, policy::comparison op, std::int64_t target) {
  policy::rule r;
  r.metric = metric;
  r.op = op;
  r.target = from_integer(target);
  return r;
}

policy::strategy fleet::dontschedule(std::vector<policy::rule> rules, policy::logic op) {
  policy::strategy s;
  s.kind = policy::strategy_kind::dontschedule;
  s.op = op;
  s.rules = std::move(rules);
  return s;
}

policy::strategy fleet::scheduleonmetric(policy::rule r) {
  policy::strategy s;
  s.kind = policy::strategy_kind::scheduleonmetric;
  s.rules.push_back(std::move(r));
  return s;
}

void fleet::publish(policy::policy p) {
  published_[p.key] = std::move(p);
  changed_ = true;
}

void fleet::unpublish(const policy::policy_key& key) {
  published_.erase(key);
  changed_ = true;
}

policy::verdict fleet::judge(const policy::strategy& s, store::node_id id) {
  policy::verdict v;
  std::size_t true_rules = 0;
  for (std::size_t i = s.rules.size(); i-- > 0;) {
    const store::sample seen = s.rules[i].seen(column(s.rules[i].metric).load(id));
    if (!seen.present(now)) {
      ++v.unknown;
    } else if (holds(s.rules[i], seen.value)) {
      ++true_rules;
      v.rule = static_cast<std::uint16_t>(i);
    }
  }
  v.violating =
      s.op == policy::logic::all_of ? true_rules == s.rules.size() && !s.rules.empty() : true_rules != 0;
  if (v.violating)
    v.what = policy::state::violating;
  else if (v.unknown != 0 && s.on_missing == policy::missing::reject)
    v.what = policy::state::missing;
  return v;
}

/// The table as the policy engine would publish it now.
void fleet::refresh() {
  changed_ = false;
  auto table = std::make_shared<policy::policy_table>();
  for (const auto& [key, p] : published_) {
    auto out = std::make_shared<policy::published_policy>();
    out->key = key;
    out->revision = p.revision;
    out->how = p.how;
    out->damping = p.damping;
    for (const auto& s : p.strategies) {
      auto& strategy = out->strategies.emplace_back();
      strategy.kind = s.kind;
      strategy.op = s.op;
      strategy.on_missing = s.on_missing;
      strategy.power = s.power;
      for (const auto& r : s.rules) {
        column(r.metric);
        strategy.rules.push_back({r, policy::description_of(s.kind).rule_text(r), columns_[r.metric]});
      }
      if (!policy::description_of(s.kind).judged_by_engine()) continue;
      auto verdicts = std::make_shared<policy::verdict_column>();
      for (const auto& [name, n] : data.nodes()) verdicts->store(n->id, judge(s, n->id));
      if (s.on_missing == policy::missing::reject) verdicts->reject_missing_from(now);
      strategy.verdicts = std::move(verdicts);
    }
    table->emplace(key, std::move(out));
  }
  data.set_policies(std::move(table));
}

extender::face& fleet::face() {
  if (changed_) refresh();
  if (!face_) {
    face_ = std::make_unique<extender::face>(
        data, decisions, settings, [this] { return now; }, logger("test", log_level::off));
  }
  return *face_;
}

fleet_answer fleet::send(http::exchange& to, std::string_view body, std::size_t piece) {
  fleet_answer out;
  for (std::size_t at = 0; at < body.size(); at += piece) {
    // Each piece is a separate copy, so that the sanitizer finds any pointer that is kept into it.
    const std::string copy(body.substr(at, piece));
    if (!to.consume(copy)) break;
  }
  to.finish([&](http::response r) {
    out.status = r.status;
    for (const auto& text : r.body) out.body += text;
    for (const auto& [name, text] : r.headers) {
      if (name == "Binnacle-Outcome") out.outcome = text;
    }
  });
  return out;
}

fleet_answer fleet::filter(std::string_view body, std::size_t piece) {
  return send(*face().begin(decision::verb::filter, request), body, piece);
}
fleet_answer fleet::prioritize(std::string_view body, std::size_t piece) {
  return send(*face().begin(decision::verb::prioritize, request), body, piece);
}
fleet_answer fleet::preempt(std::string_view body, std::size_t piece) {
  return send(*face().begin(decision::verb::preempt, request), body, piece);
}

std::string fleet::told() const {
  std::string out;
  for (const auto& line : decision::to_text(record(), decisions.names())) out += line + '\n';
  return out;
}

watts_fleet::watts_fleet(policy::mode how, policy::missing on_missing) {
  value("node-a", "rapl_power_watts", {412, -1});
  value("node-b", "rapl_power_watts", {714, -1});
  node("node-c");
  policy::policy p;
  p.key = {"default", "power"};
  p.revision = 3;
  p.how = how;
  p.strategies.push_back(dontschedule({rule("rapl_power_watts", policy::comparison::greater_than, 60)}));
  p.strategies.back().on_missing = on_missing;
  publish(p);
}

}  // namespace binnacle::test
