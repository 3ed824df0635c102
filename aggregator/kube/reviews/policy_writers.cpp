#include "aggregator/kube/reviews/policy_writers.hpp"

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/refusal.hpp"
#include "aggregator/kube/reviews/reviews.hpp"
#include "common/text/json_members.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace binnacle::kube {
namespace {

namespace json = boost::json;

constexpr std::string_view group = "telemetry.intel.com", resource = "taspolicies";

bool holds(const json::object& rule, std::string_view field, std::initializer_list<std::string_view> any_of) {
  return std::ranges::any_of(array_in(rule, field), [&](const json::value& v) {
    return v.is_string() && std::ranges::find(any_of, std::string_view(v.get_string())) != any_of.end();
  });
}

bool writes(const json::value& v) {
  const json::object* rule = v.if_object();
  return rule != nullptr && holds(*rule, "apiGroups", {group, "*"}) &&
         holds(*rule, "resources", {resource, "*"}) &&
         holds(*rule, "verbs", {"create", "update", "patch", "*"});
}

}  // namespace

std::vector<writer_question> policy_writer_questions() {
  std::vector<writer_question> out;
  for (const char* verb : {"create", "update", "patch"}) {
    access_question everybody{{{}, {}, {"system:authenticated"}}, verb};
    everybody.group = group;
    everybody.resource = resource;
    out.push_back({"every authenticated user", access_review(everybody), false});
  }
  for (const char* role : {"edit", "admin"}) {
    http::call get;
    get.target = fmt::format("/apis/rbac.authorization.k8s.io/v1/clusterroles/{}", role);
    out.push_back({fmt::format("whoever has the ClusterRole {}", role), std::move(get), true});
  }
  return out;
}

result<bool> may_write_policies(const writer_question& q, const http::answer& a) {
  if (!q.is_role) {
    const auto answer = access_answer_of(a);
    if (answer.has_error()) return answer.error();
    return answer->allowed;
  }
  if (const auto refused = refusal_of(a)) {
    if (refused->status == 404) return false;
    return refused->as_error("reading a ClusterRole");
  }
  const auto role = parse_object(a.body);
  if (role.has_error()) return role.error();
  return std::ranges::any_of(array_in(*role, "rules"), writes);
}

std::string writers_warning(std::span<const std::string> who) {
  if (who.empty()) return {};
  return fmt::format(
      "{} may write TASPolicy objects, and policies of all namespaces may label nodes: list "
      "the namespaces whose policies may do so in label-namespaces, or take the right away",
      fmt::join(who, " and "));
}

}  // namespace binnacle::kube
