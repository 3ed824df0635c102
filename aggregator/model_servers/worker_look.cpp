// Which model each node has, what is asked for it, and what is known of the answers.
#include "aggregator/model_servers/node_model.hpp"
#include "aggregator/model_servers/worker.hpp"
#include "aggregator/store/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace binnacle::model_servers {
namespace {

constexpr auto between_object_looks = std::chrono::seconds(5);
// The scheduler's calls come first: 500 nodes usually take a millisecond, but templates are others' texts.
constexpr std::size_t nodes_a_look = 500;
constexpr auto longest_look = std::chrono::milliseconds(3);

label_look_up look_up_of(const kube::node_objects::node& object) {
  return [&object](std::string_view key) { return object.labels.find(key); };
}

}  // namespace

worker::demand worker::asked_for() const {
  demand out;
  for (const auto& [key, policy] : with->nodes.policies()) {
    for (const policy::published_strategy& s : policy->strategies) {
      if (!policy::description_of(s.kind).predicts_watts()) continue;
      out.predicts = true;
      if (s.power.takes_served()) out.wanted[static_cast<std::size_t>(s.power.format)] = true;
    }
  }
  return out;
}

void worker::forget_all() {
  with->nodes.forget_served();
  last.clear();
}

/// Puts in the model that the object's endpoint provider says, or what is wrong with that. The provider goes
/// before the endpoint that is written down, as in WAO, which counts only while the provider has a fault.
void worker::ask_provider_of(choice& c, instant now) {
  named_model& named = *c.model;
  const endpoint_provider from = *named.model->provider;
  const served_model* said = nullptr;
  endpoint_providers::fault trouble;
  if (allowed.allow(from.host, from.port)) {
    said = providers.want(from, now);
    trouble = providers.fault_of(from);
    if (!from.secret.empty()) {
      secrets.want(from.secret, now);
      if (secrets.header(from.secret) == nullptr) trouble = {secrets.trouble(from.secret), {}};
    }
  } else {
    trouble.what = fmt::format(
        "the server {} of its powerConsumptionEndpointProvider is not in model-servers, so it is not asked "
        "where the model is: list it there (in the chart aggregator.modelServers)",
        from.server());
  }
  // The sentence for people who look at the object; the note gets it in the words for this node.
  const auto sentence = [&](std::string_view then) {
    c.note = fmt::format("{}{}{}{}", trouble.what, trouble.why.empty() ? "" : ": ", trouble.why, then);
    return fmt::format("{}{}{}", trouble.what, trouble.why.empty() ? "" : ", as `binnacle power NODE` says",
                       then);
  };
  served_model& model = named.model->model;
  if (said != nullptr) {
    if (!said->secure && !model.secret.empty()) {
      named.model = invalid(
          "its powerConsumptionEndpointProvider names a model without TLS, and predictor.powerConsumption a "
          "basicAuthSecret, which everybody on the way could read: have it name an https or grpcs URL");
      return;
    }
    std::string secret = std::move(model.secret);
    model = *said;
    model.secret = std::move(secret);
    if (!trouble.what.empty())
      named.model->remark = sentence("; the model that it named last counts for an hour");
  } else if (trouble.what.empty()) {
    named.model =
        error{errc::not_found, "its powerConsumptionEndpointProvider has not said yet where its model is"};
  } else if (model.host.empty() || !allowed.allow(model.host, model.port)) {
    named.model = error{errc::not_found, sentence("")};
  } else {
    named.model->remark = sentence("; meanwhile the endpoint of predictor.powerConsumption is asked");
  }
}

/// The model of a node. Objects go before labels, because they are WAO's newer form.
worker::choice worker::model_of(const std::string& node, instant now) {
  choice c;
  auto& out = c.model;
  const kube::node_objects::node* object = with->object_of(node);
  label_look_up labels;
  if (object != nullptr) labels = look_up_of(*object);
  out = configs.find({node, labels, addresses.find(node)}, &c.passed_over);
  if (labels && (!out || out->model.has_error())) {
    if (auto read = model_by_labels(labels); read && (!out || read->has_value())) {
      if (out) c.passed_over.push_back(*std::move(out));
      out = {"its labels", std::move(*read), {"Node", "v1", "", node, object->uid}};
    }
  }
  if (!out || out->model.has_error()) return c;
  // If nobody may be asked, the sentence is the same for all objects, so that the status says it once.
  if (allowed.empty()) {
    out->model = error{errc::permission,
                       "its model is not asked, because model-servers lists no server: list those of models "
                       "there (in the chart aggregator.modelServers)"};
    return c;
  }
  const bool provided = out->model->provider.has_value();
  if (provided) ask_provider_of(c, now);
  if (out->model.has_error()) return c;
  const served_model& model = out->model->model;
  if (!allowed.allow(model.host, model.port)) {
    c.note.clear();
    out->model = error{
        errc::permission,
        fmt::format("the server {}{} is not in model-servers, so its model is not asked: list it "
                    "there (in the chart aggregator.modelServers)",
                    model.server(), provided ? ", which its powerConsumptionEndpointProvider names," : "")};
  }
  return c;
}

void worker::look_at(const store::node_view& node, const formats& wanted, instant now) {
  policy::view& nodes = with->nodes;
  const std::uint32_t id = store::index(node.id);
  if (last.size() <= id) last.resize(id + 1);
  const choice chosen = model_of(node.name, now);
  const auto& model = chosen.model;
  const double cores =
      node.cells == nullptr ? 0 : store::first_present(*node.cells, policy::cpus_metric, now).value;
  std::string note;
  if (const auto* const object = with->object_of(node.name))
    configs.complain_of({node.name, look_up_of(*object), {}}, wrong, now, model ? &*model : nullptr);
  for (const named_model& one : chosen.passed_over) wrong.add(one.about, one.model.error().message, now);
  if (model && model->model.has_error()) {
    note = fmt::format("{}: {}", model->object,
                       chosen.note.empty() ? model->model.error().message : chosen.note);
    wrong.add(model->about, model->model.error().message, now);
  } else if (model && !model->model->remark.empty()) {
    wrong.add(model->about, model->model->remark, now);
  }
  std::string unknown_password;
  if (model && model->model.has_value() && !model->model->model.secret.empty()) {
    const std::string& secret = model->model->model.secret;
    secrets.want(secret, now);
    if (std::string why = secrets.trouble(secret); !why.empty()) {
      unknown_password = fmt::format("{}: {}", model->object, why);
      wrong.add(model->about,
                fmt::format("{}; meanwhile nodes use the last curve for an hour, {}", why,
                            after_last_curve(nodes.learned_counts())),
                now);
    }
  }
  for (std::size_t f = 0; f < policy::cpu_formats; ++f) {
    predict::model_table& table = nodes.served(static_cast<policy::cpu_format>(f));
    std::shared_ptr<const predict::model> known;
    if (!wanted[f] || !model || model->model.has_error()) {
      last[id][f].reset();
    } else if (cores <= 0) {
      known = table.share(id);  // the cores are not known now: keep the old curve
    } else {
      auto& before = last[id][f];
      // An answer that another model gave, or that another password got, is none of this node.
      const bool same = before && before->model == model->model->model;
      const readings measured = readings_of(*node.cells, now);
      before = question_of(*model->model, measured, cores, static_cast<policy::cpu_format>(f),
                           before ? &*before : nullptr);
      known = questions.want(*before, now);
      if (note.empty()) note = unknown_password;
      if (note.empty()) note = questions.trouble(*before);
      for (std::string& why : assumptions_of(*before)) wrong.add(model->about, std::move(why), now);
      for (std::string& why : limits_of(*model->model, measured))
        wrong.add(model->about, std::move(why), now);
      // Until there is an answer for the new inputs, the answer for the old ones counts, up to its usual age.
      const predict::model* old = table.find(id);
      if (known == nullptr && old != nullptr && same && old->power.cores() == cores &&
          now - old->made < asker::counts_for)
        known = table.share(id);
    }
    if (table.share(id) != known) table.set(id, std::move(known));
  }
  if (note.empty() && !chosen.note.empty()) note = fmt::format("{}: {}", model->object, chosen.note);
  nodes.set_served_note(id, std::move(note));
}

/// Looks at some of the nodes, as many as the time allows; the next call goes on with the next ones.
void worker::look(instant now) {
  in_parts = false;
  const demand now_wanted = asked_for();
  // If nobody may be asked, those are told as well who have no policy yet, but not those who chose to learn.
  const bool to_be_told = allowed.empty() && !now_wanted.predicts;
  if (!now_wanted.any() && !to_be_told) {
    if (!std::exchange(idle, true)) forget_all();
    return;
  }
  idle = false;
  const auto& all = with->nodes.nodes();
  auto at = all.upper_bound(last_looked_at);
  for (std::size_t left = std::min(nodes_a_look, all.size()); left > 0 && !in_parts; --left, ++at) {
    if (at == all.end()) at = all.begin();
    look_at(*at->second, now_wanted.wanted, now);
    last_looked_at = at->first;
    in_parts = left > 1 && boot_clock::now() - now >= longest_look;
  }
}

/// Collects the faults of objects that do not depend on nodes, and writes events about all faults.
void worker::look_at_objects(instant now) {
  if (all_objects && now - objects_looked_at < between_object_looks) return;
  objects_looked_at = now;
  const instant begin = boot_clock::now();
  const auto enough = [begin] { return boot_clock::now() - begin >= longest_look; };
  all_objects = idle || configs.complain(wrong, now, enough);
  if (!all_objects) return;
  for (std::size_t i = 0; i < node_configs::collections; ++i) {
    if (configs.take_freed(i)) followers[i]->read_again();
  }
  wrong.end_old(now);
  wrong.say(now, [this](kube::note n) { return with->say(std::move(n)); });
  if (configs.need_addresses() && followers.size() == node_configs::collections)
    follow(
        std::make_unique<kube::reflector>(node_addresses::collection(), addresses, std::random_device{}()));
}

}  // namespace binnacle::model_servers
