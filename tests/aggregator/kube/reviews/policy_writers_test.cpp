#include "aggregator/kube/reviews/policy_writers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace policy_writers_test {
namespace {

using namespace binnacle;

kube::writer_question question(bool of_role) {
  const auto all = kube::policy_writer_questions();
  return *std::ranges::find(all, of_role, &kube::writer_question::is_role);
}
bool role_writes(const std::string& rules) {
  const auto may = kube::may_write_policies(question(true), {200, {}, "{\"rules\":" + rules + "}"});
  REQUIRE(may.has_value());
  return *may;
}

TEST_SUITE("aggregator/kube/reviews/policy_writers") {
  TEST_CASE("the access reviews ask about the group of all users, and two roles are read by name") {
    const auto all = kube::policy_writer_questions();
    REQUIRE(all.size() == 5);
    CHECK(all[0].call.target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    CHECK(all[0].call.body.find(R"("groups":["system:authenticated"])") != std::string::npos);
    CHECK(all[0].call.body.find(R"("group":"telemetry.intel.com")") != std::string::npos);
    CHECK(all[3].call.target == "/apis/rbac.authorization.k8s.io/v1/clusterroles/edit");
    CHECK(all[4].call.target == "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin");
  }

  TEST_CASE("an access review says whether everybody may") {
    const auto q = question(false);
    CHECK(*kube::may_write_policies(q, {201, {}, R"({"status":{"allowed":true}})"}));
    CHECK_FALSE(*kube::may_write_policies(q, {201, {}, R"({"status":{"allowed":false}})"}));
    CHECK(kube::may_write_policies(q, {403, {}, "{}"}).has_error());
  }

  TEST_CASE("a role writes policies by name, by group or by everything") {
    CHECK(role_writes(
        R"([{"apiGroups":["telemetry.intel.com"],"resources":["taspolicies"],"verbs":["patch"]}])"));
    CHECK(
        role_writes(R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get"]},)"
                    R"({"apiGroups":["telemetry.intel.com"],"resources":["*"],"verbs":["create","get"]}])"));
    CHECK(role_writes(R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}])"));
    CHECK_FALSE(role_writes(
        R"([{"apiGroups":["telemetry.intel.com"],"resources":["taspolicies"],"verbs":["get","list"]}])"));
    CHECK_FALSE(role_writes(R"([{"apiGroups":["apps"],"resources":["*"],"verbs":["*"]}])"));
    CHECK_FALSE(role_writes(
        R"([{"apiGroups":["telemetry.intel.com"],"resources":["taspolicies/status"],"verbs":["*"]}])"));
    CHECK_FALSE(role_writes("[]"));
    CHECK_FALSE(role_writes(R"([7,{"apiGroups":7,"resources":["*"],"verbs":["*"]}])"));
  }

  TEST_CASE("a role that is not there writes nothing, one that cannot be read is not known") {
    CHECK_FALSE(*kube::may_write_policies(question(true), {404, {}, "{}"}));
    CHECK(kube::may_write_policies(question(true), {403, {}, "{}"}).has_error());
    CHECK(kube::may_write_policies(question(true), {200, {}, "no JSON"}).has_error());
  }

  TEST_CASE("the warning names all of them, once") {
    CHECK(kube::writers_warning({}).empty());
    const std::vector<std::string> who{"every authenticated user", "whoever has the ClusterRole edit"};
    CHECK(kube::writers_warning(who).starts_with(
        "every authenticated user and whoever has the ClusterRole edit may write TASPolicy objects, "));
  }
}

}  // namespace
}  // namespace policy_writers_test
