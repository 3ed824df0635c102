#include "aggregator/policy/text/policy_files.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace binnacle::policy_files_test {

using namespace std::chrono_literals;
using policy::policies_read;
using policy::policy_files;

namespace {

const char* const manifest =
    "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: p}\nspec:\n  strategies:\n"
    "    dontschedule: {rules: [{metricname: m, operator: GreaterThan, target: 1}]}\n";

/// Keeps what the thread reported last.
struct post_box {
  policy_files::news news() {
    return {[this](policies_read all) {
              const std::lock_guard lock(guard);
              policies = std::move(all);
              came.notify_all();
            },
            [this](policy::alias_file names) {
              const std::lock_guard lock(guard);
              aliases = std::move(names);
              came.notify_all();
            }};
  }
  /// Waits until `is` holds, at most a minute.
  template <class Condition>
  bool wait(Condition is) {
    std::unique_lock lock(guard);
    return came.wait_for(lock, 1min, is);
  }
  std::mutex guard;
  std::condition_variable came;
  std::optional<policies_read> policies;
  std::optional<policy::alias_file> aliases;
};

}  // namespace

TEST_SUITE("aggregator/policy/text/policy_files") {
  TEST_CASE("what is there is read at once, what comes is told, and so is what is wrong") {
    const support::temp_folder folder;
    post_box box;
    policy_files files(folder.path(), policy::alias_file(""), 10ms, box.news());
    CHECK(files.read_now().in_force.empty());
    files.start();
    folder.write("p.yaml", manifest);
    REQUIRE(box.wait([&] { return box.policies && box.policies->in_force.size() == 1; }));
    CHECK(box.policies->problems.empty());
    folder.write("p.yaml", std::string(manifest) + "    deschedule: {rules: 5}\n");
    REQUIRE(box.wait([&] { return !box.policies->problems.empty(); }));
    CHECK(box.policies->in_force.size() == 1);
    CHECK(box.policies->wrong.contains("p"));
  }

  TEST_CASE("who does not read first is told what the first look finds, also that there is nothing") {
    const support::temp_folder folder;
    post_box box;
    policy_files files(folder.path(), policy::alias_file(""), 10ms, box.news());
    policy::policy_set before;
    before.put(folder.path() + "/p.yaml", manifest);
    std::vector<policy::kept_policy> kept;
    for (const auto& p : before.policies()) kept.push_back({p, folder.path() + "/p.yaml", true, true});
    files.recall(kept);
    folder.write("p.yaml", "{ torn");
    files.start();
    REQUIRE(box.wait([&] { return box.policies.has_value(); }));
    CHECK_MESSAGE(box.policies->in_force.size() == 1, "the last good version");
    folder.remove("p.yaml");
    CHECK(box.wait([&] { return box.policies->in_force.empty(); }));

    const support::temp_folder empty;
    post_box nothing;
    policy_files none(empty.path(), policy::alias_file(""), 10ms, nothing.news());
    none.start();
    CHECK(nothing.wait([&] { return nothing.policies && nothing.policies->in_force.empty(); }));
  }

  TEST_CASE("the file of aliases is followed likewise, also where the API server has the policies") {
    const support::temp_folder folder;
    post_box box;
    policy_files files("", policy::alias_file(folder.path() + "/names.yaml"), 10ms, box.news());
    CHECK(files.read_now().in_force.empty());
    files.start();
    folder.write("names.yaml", "- {name: rack_power, family: rapl_power_watts}\n");
    REQUIRE(box.wait([&] { return box.aliases && box.aliases->table()->own() == 1; }));
    const std::lock_guard lock(box.guard);
    CHECK_FALSE(box.policies);
  }
}

}  // namespace binnacle::policy_files_test
