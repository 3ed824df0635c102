#include "aggregator/model_servers/endpoint_provider.hpp"

#include "common/text/endpoint.hpp"
#include "common/text/json_members.hpp"
#include "common/text/json_reader.hpp"
#include "common/text/text.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

constexpr std::string_view systems = "/redfish/v1/Systems";
constexpr std::string_view model_of_system = "/redfish/v1/Systems/ID/MachineLearningModel";
/// Answers are kept and become paths, so a server may not make them as long as it likes.
constexpr std::size_t longest_id = 256, longest_endpoint = 1024;

error unusable(std::string why) { return {errc::protocol, std::move(why)}; }

/// Why the answer is none, and the remedy. `what`: the path that was asked for.
error refusal(const endpoint_provider& of, unsigned status, std::string_view what) {
  const std::string said = fmt::format("it answered {} for {}", status, what);
  switch (status) {
    case 401:
      return {errc::permission,
              of.secret.empty()
                  ? said + ": name a Secret with its user name and password in basicAuthSecret"
                  : fmt::format("{}: it does not accept the user name and password of the Secret {}, so "
                                "correct them",
                                said, of.secret)};
    case 403: return {errc::permission, said + ": allow its user to read that"};
    case 404:
      return {errc::not_found,
              said + (what == systems ? ": let the endpoint lead to a Redfish server"
                                      : ": BMCs have no such resource of their own, so let the endpoint lead "
                                        "to WAO's mlmm, which adds it, or name the model in "
                                        "predictor.powerConsumption alone")};
    default:
      return {errc::io, status / 100 == 3 ? said +
                                                ": no redirect is followed, so let the endpoint be the one "
                                                "that it leads to"
                                          : said};
  }
}

/// The object in an answer.
result<json::object> body_of(const endpoint_provider& of, const http::answer& got, std::string_view what) {
  if (got.status != 200) return refusal(of, got.status, what);
  auto read = read_json(got.body);
  if (read.has_error() || !read->is_object())
    return unusable(fmt::format("its answer for {} is no JSON object", what));
  return std::move(read->get_object());
}

}  // namespace

std::string endpoint_provider::server() const { return to_string(endpoint{host, port}); }

std::string endpoint_provider::text() const {
  return fmt::format("{}://{}{}", secure ? "https" : "http", server(), path);
}

result<endpoint_provider> redfish_provider(std::string_view given) {
  const auto url = split_url(given);
  endpoint_provider out;
  out.secure = url.scheme == "https";
  if (!out.secure && url.scheme != "http")
    return invalid(fmt::format("the endpoint {} of powerConsumptionEndpointProvider is no http or https URL",
                               in_quotes(given)));
  const auto at = read_endpoint(url.authority, out.secure ? 443 : 80);
  // A user and password before the host are refused, because they would be shown.
  if (!at || url.authority.find('@') != url.authority.npos)
    return invalid("the host of powerConsumptionEndpointProvider's endpoint is no HOST or HOST:PORT");
  if (!may_stand_in_url(url.rest) || url.rest.find_first_of("?#") != url.rest.npos)
    return invalid(fmt::format("the path of powerConsumptionEndpointProvider's endpoint {} cannot be used",
                               in_quotes(given)));
  out.host = at->host;
  out.port = at->port;
  // What is left of "/" alone is nothing: npos + 1 is 0.
  out.path = url.rest.substr(0, url.rest.find_last_not_of('/') + 1);
  return out;
}

result<std::string> system_in(const endpoint_provider& of, const http::answer& got) {
  const auto whole = body_of(of, got, systems);
  if (whole.has_error()) return whole.error();
  const json::array& members = array_in(*whole, "Members");
  if (members.empty()) return unusable(fmt::format("its answer for {} has no Members", systems));
  // WAO takes the first one, however many there are.
  const json::object* first = members.front().if_object();
  std::string_view path = first == nullptr ? std::string_view() : text_in(*first, "@odata.id");
  if (path.ends_with('/')) path.remove_suffix(1);  // some BMCs' ids do
  // Only the last segment is used, so that the answer cannot lead to another path, or another server.
  const std::string_view id = path.substr(path.rfind('/') + 1);
  if (id.size() > longest_id || !is_segment(id))
    return unusable(fmt::format("the first of its {} has no @odata.id that ends with an id", systems));
  return std::string(id);
}

result<served_model> model_in(const endpoint_provider& of, const http::answer& got) {
  const auto whole = body_of(of, got, model_of_system);
  if (whole.has_error()) return whole.error();
  const json::object* model = object_in(*whole, "PowerConsumptionModel");
  if (model == nullptr) return unusable("its MachineLearningModel has no PowerConsumptionModel");
  for (const std::string_view name : {"Name", "Url", "Type", "Version"}) {
    if (text_in(*model, name).empty())
      return unusable(fmt::format("its PowerConsumptionModel has no {}, or an empty one", name));
  }
  if (text_in(*model, "Type") != "V2InferenceProtocol")
    return unusable(
        "its PowerConsumptionModel is of another Type than V2InferenceProtocol, and only that is asked");
  std::string_view url = text_in(*model, "Url");
  url = url.substr(0, url.find_last_not_of('/') + 1);
  const std::string where = fmt::format("{}/v2/models/{}/versions/{}/infer", url, text_in(*model, "Name"),
                                        text_in(*model, "Version"));
  auto read = v2_model(where);
  if (read.has_error() || where.size() > longest_endpoint)
    return unusable(
        "Url, Name and Version of its PowerConsumptionModel make no endpoint "
        "http(s)://HOST:PORT/v2/models/NAME/versions/VERSION/infer");
  return read;
}

}  // namespace binnacle::model_servers
