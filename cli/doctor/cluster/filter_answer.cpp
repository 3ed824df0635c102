#include "cli/doctor/cluster/filter_answer.hpp"

#include "cli/json.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace binnacle::cli::doctor {
namespace {

constexpr std::string_view node = "binnacle-doctor";

/// Whether the answer lets the node pass, by name or as an object.
bool passed(const json::value& said) {
  const auto& names = list(said, "NodeNames");
  if (std::ranges::any_of(names,
                          [](const json::value& n) { return n.is_string() && n.get_string() == node; }))
    return true;
  const json::value* nodes = member(said, "Nodes");
  if (nodes == nullptr) return false;
  return std::ranges::any_of(list(*nodes, "items"), [](const json::value& n) {
    const json::value* meta = member(n, "metadata");
    return meta != nullptr && text(*meta, "name") == node;
  });
}

}  // namespace

std::string filter_question(bool by_names) {
  const std::string pod =
      R"({"Pod":{"metadata":{"name":"binnacle-doctor","namespace":"default","uid":"binnacle-doctor"},"spec":{"containers":[]},"status":{}},)";
  if (by_names) return fmt::format(R"({}"Nodes":null,"NodeNames":["{}"]}})", pod, node);
  return fmt::format(
      R"({}"Nodes":{{"metadata":{{}},"items":[{{"metadata":{{"name":"{}"}}}}]}},"NodeNames":null}})", pod,
      node);
}

finding finding_of_filter_answer(const std::string& url, const http::answer& got, std::string_view as_whom,
                                 duration took) {
  if (got.status == 401 || got.status == 403) {
    return failure(fmt::format("{} refuses the caller {} (HTTP status {})", url, as_whom, got.status),
                   "the certificate must be signed by the aggregator's clients-ca, and have a name that "
                   "extender-callers lists (in the packages: scheduler)");
  }
  if (got.status != 200) {
    return failure(fmt::format("{} answers HTTP status {}", url, got.status),
                   "is that the extender's port (9001 if none was set), and the path scheduler/filter?");
  }
  boost::system::error_code ec;
  const json::value said = json::parse(got.body, ec);
  if (ec || !said.is_object())
    return failure(fmt::format("{} answers something that is not a JSON object", url),
                   "is that Binnacle's extender?");
  if (const auto error = text(said, "Error"); !error.empty())
    return failure(fmt::format("{} answers an error: {}", url, error), "see the aggregator's log");
  if (!passed(said)) {
    return failure(fmt::format("{} refuses a node to a pod without a policy", url),
                   "is that Binnacle's extender?");
  }
  return ok(fmt::format("{} answers a filter call {} in {}", url, as_whom, human(took)));
}

}  // namespace binnacle::cli::doctor
