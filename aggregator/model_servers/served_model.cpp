#include "aggregator/model_servers/served_model.hpp"

#include "common/text/endpoint.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::model_servers {
namespace {

/// Takes the text before the next '/', and the '/', off `rest`.
std::string_view take_segment(std::string_view& rest) {
  const std::string_view out = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(rest.size(), out.size() + 1));
  return out;
}

}  // namespace

bool is_segment(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && may_stand_in_url(name) &&
         name.find_first_of("/?#%\\") == name.npos;
}

std::string served_model::server() const { return to_string(endpoint{host, port}); }

std::string_view served_model::metadata_path() const noexcept {
  return std::string_view(path).substr(0, path.rfind("/infer"));
}

std::string_view served_model::scheme() const noexcept {
  if (by == carrier::grpc) return secure ? "grpcs://" : "grpc://";
  return secure ? "https://" : "http://";
}

std::string served_model::text() const { return fmt::format("{}{}{}", scheme(), server(), path); }

result<served_model> v2_model(std::string_view given) {
  const auto url = split_url(given);
  served_model out;
  out.by = url.scheme.starts_with("grpc") ? carrier::grpc : carrier::rest;
  out.secure = url.scheme == "https" || url.scheme == "grpcs";
  if (!out.secure && url.scheme != "http" && url.scheme != "grpc")
    return invalid(fmt::format("the endpoint {} is no http, https, grpc or grpcs URL", in_quotes(given)));
  const auto at = read_endpoint(url.authority, out.secure ? 443 : 80);
  // A user and password before the host are refused, because they would be logged.
  if (!at || url.authority.find('@') != url.authority.npos)
    return invalid("the endpoint's host is no HOST or HOST:PORT");
  out.host = at->host;
  out.port = at->port;
  const auto bad_path = [given] {
    return invalid(fmt::format("the path of the endpoint {} is not /v2/models/NAME/versions/VERSION/infer",
                               in_quotes(given)));
  };
  constexpr std::string_view begin = "/v2/models/";
  const auto found = url.rest.find(begin);
  if (found == url.rest.npos || !may_stand_in_url(url.rest) || url.rest.find_first_of("?#") != url.rest.npos)
    return bad_path();
  std::string_view rest = url.rest.substr(found + begin.size());
  if (out.by == carrier::grpc && found != 0)
    return invalid(
        fmt::format("the endpoint {} has a path before /v2, which gRPC does not know", in_quotes(given)));
  out.name = take_segment(rest);
  out.path = fmt::format("{}{}{}", url.rest.substr(0, found), begin, out.name);
  std::string_view next = take_segment(rest);
  bool good = is_segment(out.name);
  if (next == "versions") {
    out.version = take_segment(rest);
    good = good && is_segment(out.version);
    out.path += fmt::format("/versions/{}", out.version);
    next = take_segment(rest);
  }
  good = good && (next.empty() || next == "infer") && rest.empty();
  if (!good) return bad_path();
  if (out.by == carrier::rest) out.path += "/infer";
  return out;
}

result<served_model> tf_model(carrier by, std::string host, std::uint16_t port, std::string_view name,
                              std::string_view version, std::string signature) {
  if (!is_segment(name)) return invalid(fmt::format("{} is no name of a model", in_quotes(name)));
  served_model out;
  out.speaks = protocol::tf_serving;
  out.by = by;
  out.host = std::move(host);
  out.port = port;
  out.name = name;
  // A version that is not a number is ignored, as in WAO. In gRPC it is a number of 64 bits.
  const bool digits = !version.empty() && version.find_first_not_of("0123456789") == version.npos;
  if (digits && version.size() <= 18) out.version = version;
  out.path = fmt::format("/v1/models/{}", name);
  if (!out.version.empty()) out.path += fmt::format("/versions/{}", version);
  if (by == carrier::rest) out.path += ":predict";
  out.signature = std::move(signature);
  return out;
}

}  // namespace binnacle::model_servers
