#include "aggregator/model_servers/served_model.hpp"

#include "common/text/endpoint.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::model_servers {
namespace {

error bad_endpoint(std::string what) { return {errc::invalid_input, std::move(what)}; }

/// A name that becomes one segment of a path as it is.
bool is_segment(std::string_view s) {
  return !s.empty() && s != "." && s != ".." && may_stand_in_url(s) &&
         s.find_first_of("/?#%\\") == std::string_view::npos;
}

/// What stands before the next '/', which is taken, too.
std::string_view take_segment(std::string_view& rest) {
  const std::string_view out = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(rest.size(), out.size() + 1));
  return out;
}

}  // namespace

std::string served_model::server() const { return to_string(endpoint{host, port}); }

std::string served_model::text() const {
  return fmt::format("{}://{}{}", secure ? "https" : "http", server(), path);
}

result<served_model> v2_model(std::string_view given) {
  const auto url = split_url(given);
  if (url.scheme != "http" && url.scheme != "https")
    return bad_endpoint(fmt::format("the endpoint {} is no http or https URL", in_quotes(given)));
  served_model out;
  out.secure = url.scheme == "https";
  const auto at = read_endpoint(url.authority, out.secure ? 443 : 80);
  // A user and a password before the host would be logged.
  if (!at || url.authority.find('@') != url.authority.npos)
    return bad_endpoint("the endpoint's host is no HOST or HOST:PORT");
  out.host = at->host;
  out.port = at->port;
  const auto bad_path = [given] {
    return bad_endpoint(fmt::format(
        "the path of the endpoint {} is not /v2/models/NAME/versions/VERSION/infer", in_quotes(given)));
  };
  constexpr std::string_view begin = "/v2/models/";
  const auto found = url.rest.find(begin);
  if (found == url.rest.npos || !may_stand_in_url(url.rest) || url.rest.find_first_of("?#") != url.rest.npos)
    return bad_path();
  std::string_view rest = url.rest.substr(found + begin.size());
  const std::string_view name = take_segment(rest);
  out.path = fmt::format("{}{}{}", url.rest.substr(0, found), begin, name);
  std::string_view next = take_segment(rest);
  bool good = is_segment(name);
  if (next == "versions") {
    const std::string_view version = take_segment(rest);
    good = good && is_segment(version);
    out.path += fmt::format("/versions/{}", version);
    next = take_segment(rest);
  }
  good = good && (next.empty() || next == "infer") && rest.empty();
  if (!good) return bad_path();
  out.path += "/infer";
  return out;
}

result<served_model> tf_model(std::string host, std::uint16_t port, std::string_view name,
                              std::string_view version, std::string signature) {
  if (!is_segment(name)) return bad_endpoint(fmt::format("{} is no name of a model", in_quotes(name)));
  const bool digits = !version.empty() && version.find_first_not_of("0123456789") == version.npos;
  served_model out;
  out.speaks = protocol::tf_serving;
  out.host = std::move(host);
  out.port = port;
  // A version that is no number counts as none, as with WAO.
  out.path = digits ? fmt::format("/v1/models/{}/versions/{}:predict", name, version)
                    : fmt::format("/v1/models/{}:predict", name);
  out.signature = std::move(signature);
  return out;
}

}  // namespace binnacle::model_servers
