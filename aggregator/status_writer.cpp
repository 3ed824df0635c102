#include "aggregator/status_writer.hpp"

#include "aggregator/ingest_report.hpp"
#include "aggregator/kube/election/election.hpp"
#include "aggregator/kube/json.hpp"
#include "aggregator/kube/objects/merge_patch.hpp"
#include "aggregator/kube/refusal.hpp"
#include "aggregator/policy_blame.hpp"
#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string_view>
#include <utility>

namespace binnacle::aggregator {
namespace {

using async::task;
using async::within;

constexpr auto look_at_statuses = std::chrono::seconds(1);
constexpr duration first_status = std::chrono::seconds(10);  // after the start: agents and values come first
constexpr std::size_t statuses_a_look = 50;       // a thousand policies must not hold up the extender
constexpr std::size_t longest_answer = 1u << 18;  // to read a longer one would hold it up
constexpr std::string_view other_status =
    "the API server drops or changes fields of the status that this aggregator writes to TASPolicy objects, "
    "so columns and conditions are missing or wrong: update the CRD (kubectl apply --server-side "
    "--force-conflicts -f charts/binnacle/crds/taspolicy.yaml); if the CRD is up to date, look for an "
    "admission webhook that changes statuses";

kube::object_reference reference_of(const kube::object_key& key, const std::string& uid) {
  return {"TASPolicy", "telemetry.intel.com/v1alpha1", key.name_space, key.name, uid};
}

/// The status in the answer to a patch that was to make it `written`. An API server drops members that the
/// CRD does not have, and answers 200. An answer that cannot be read counts as if it kept everything.
boost::json::object status_kept(const http::answer& a, const boost::json::object& written) {
  if (a.body.size() > longest_answer) return written;
  const auto object = kube::parse_object(a.body);
  if (object.has_error()) return written;
  const boost::json::object* status = object_in(*object, "status");
  return status == nullptr ? boost::json::object() : *status;
}

}  // namespace

status_writer::status_writer(parts p, async::loop& on, logger log)
    : with_(std::move(p)), log_(std::move(log)), due_(on), pace_(std::random_device{}()) {}

void status_writer::start(async::task_group& in) {
  in.keep("statuses", [this] { return keep_statuses(); });
}

void status_writer::changed(const kube::object_key& key, std::uint64_t number) {
  pace_.forget(kube::policy_objects::name_of(key));
  unjudged_.changed(key, number);
}

void status_writer::gone(const kube::object_key& key) {
  pace_.forget(kube::policy_objects::name_of(key));
  unjudged_.gone(key);
}

void status_writer::reported() {
  if (unjudged_.any(with_.judged.policies_taken)) due_.notify();
}

/// The next policy in the order of the keys, so that each has its turn.
std::optional<kube::object_key> status_writer::next_object() {
  const auto& all = with_.policies.objects();
  if (all.empty()) return std::nullopt;
  auto at = all.upper_bound(last_looked_at_);
  if (at == all.end()) at = all.begin();
  last_looked_at_ = at->first;
  return last_looked_at_;
}

task<void> status_writer::keep_statuses() {
  co_await async::sleep_for(first_status);
  instant next_round = boot_clock::now();
  for (;;) {
    const instant before = boot_clock::now();
    const instant due = turns_.empty() ? next_round : std::min(next_round, pace_.next_change());
    if (before < due) {
      const async::deadline until = within(due - before);
      co_await due_.wait(until);
    }
    const labels::node_label_sync::foreign_labels foreign = with_.node_labels.foreign();
    for (const kube::object_key& edited : unjudged_.take(with_.judged.policies_taken))
      turns_.wants(edited, true);
    if (!turns_.empty() && boot_clock::now() >= pace_.next_change()) {
      co_await async::sleep_for({});
      const auto key = turns_.next();
      co_await look_at_status(*key, foreign, true);
    }
    if (boot_clock::now() < next_round) continue;
    next_round = boot_clock::now() + look_at_statuses;
    const std::size_t looks = std::min(with_.policies.objects().size(), statuses_a_look);
    for (std::size_t i = 0; i < looks; ++i) {
      if (i > 0) co_await async::sleep_for({});  // walks over all nodes: scheduler's calls go first
      const auto key = next_object();
      if (key) co_await look_at_status(*key, foreign, false);
    }
  }
}

/// Writes a policy's status if it has its turn, or only the data's age has changed, and status_pace allows it
/// now. A change without a turn waits for one. If it were written only when nothing was written a moment
/// before, a policy whose neighbour in the order of looks changes all the time would never be written.
task<void> status_writer::look_at_status(kube::object_key key,
                                         const labels::node_label_sync::foreign_labels& foreign,
                                         bool has_turn) {
  const instant now = boot_clock::now();
  const auto found = with_.policies.objects().find(key);
  if (found == with_.policies.objects().end() || unjudged_.awaits(key) || !with_.may_write()) co_return;
  const kube::policy_objects::object& object = found->second;
  const std::string name = kube::policy_objects::name_of(key);
  enforce::policy_facts facts =
      enforce::facts_of({key.name_space, key.name}, name, object.generation, with_.nodes,
                        with_.judged.problems, with_.judged.conditions, now);
  enforce::add_foreign(facts, key.name, foreign);
  facts.refused =
      refusal_of_agents(with_.judged.repeated_ends, with_.nodes.policies(), {key.name_space, key.name});
  boost::json::object wanted = enforce::status_of(facts, object.status, std::chrono::system_clock::now());
  const enforce::urgency how = enforce::difference(wanted, object.status);
  if (how == enforce::urgency::change && !has_turn) {
    if (pace_.is_due(name, now)) turns_.wants(key, false);
  } else if (pace_.may_write(name, how, now)) {
    pace_.begins(name, now);
    co_await write_status(key, std::move(wanted), how);
  }
}

task<void> status_writer::write_status(kube::object_key key, boost::json::object wanted,
                                       enforce::urgency how) {
  const kube::policy_objects::object before = with_.policies.objects().at(key);
  const std::string name = kube::policy_objects::name_of(key);
  const std::string path = fmt::format("/apis/telemetry.intel.com/v1alpha1/namespaces/{}/taspolicies/{}",
                                       key.name_space, key.name);
  http::call patch = kube::status_patch(path, enforce::patch_of(wanted, before.status));
  auto got = co_await with_.api->ask(std::move(patch), within(kube::election::write_deadline));
  const instant now = boot_clock::now();
  const auto refused = got.has_error() ? std::nullopt : kube::refusal_of(*got);
  if (got.has_error() || (refused && refused->status != 404)) {
    if (refused && refused->status != 429 && refused->status < 500) {
      pace_.refused(name, now);
    } else {
      pace_.pause(refused ? refused->retry_after.value_or(duration::zero()) : duration::zero(), now);
    }
    const std::string trouble = got.has_error()
                                    ? "statuses cannot be written: " + got.error().message
                                    : refused->as_error("writing the status of a TASPolicy").message;
    if (trouble_.is_news(trouble)) log_.warning("{}", trouble);
    co_return;
  }
  if (refused) {  // 404: the policy is gone
    trouble_.clear();
    pace_.wrote(name, how, now);
    co_return;
  }
  const boost::json::object kept = status_kept(*got, wanted);
  // Without the pause the status would be written again every few seconds, for as long as the CRD is old.
  if (enforce::difference(wanted, kept) == enforce::urgency::none) {
    trouble_.clear();
    pace_.wrote(name, how, now);
  } else {
    pace_.lost(name, how, now);
    if (trouble_.is_news(other_status)) log_.warning("{}", other_status);
  }
  // A condition that is not kept would be news again the next time.
  for (const enforce::news& n : enforce::news_of(kept, before.status)) {
    kube::note said{reference_of(key, before.uid), n.warning, n.reason, n.action, n.text};
    with_.say(std::move(said));
  }
}

}  // namespace binnacle::aggregator
