#include "aggregator/sender/destination.hpp"

#include "common/http/base64.hpp"
#include "common/system/read_file.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace binnacle::sender {
namespace {

constexpr std::size_t most_secret = 64u << 10;

}  // namespace

result<destination> parse_destination(std::string_view url, std::string_view setting,
                                      std::string_view example) {
  const auto wrong = [&](std::string_view why) {
    return error{errc::invalid_input,
                 fmt::format("--{} {}: write https://HOST:PORT/path, as {}", setting, why, example)};
  };
  const auto parsed = boost::urls::parse_absolute_uri(url);
  if (parsed.has_error()) return wrong("is not a URL");
  // A password in a setting would be in every list of processes.
  if (parsed->has_userinfo()) {
    return error{errc::invalid_input,
                 fmt::format("--{0} holds a user or password: give --{0}-user and --{0}-token", setting)};
  }
  destination out;
  out.secure = parsed->scheme_id() == boost::urls::scheme::https;
  if (!out.secure && parsed->scheme_id() != boost::urls::scheme::http) return wrong("has no such scheme");
  const auto at = read_endpoint(parsed->encoded_host_and_port(), out.secure ? 443 : 80);
  if (!at) return wrong("has no host");
  out.at = *at;
  out.target = std::string(parsed->encoded_target());
  if (out.target.empty() || out.target == "/") return wrong("has no path");
  return out;
}

result<std::string> authorization(const proof& p) {
  auto secret = read_file(p.token_file, most_secret);
  if (secret.has_error()) return secret.error();
  secret->erase(secret->find_last_not_of(" \t\r\n") + 1);
  const auto no_text = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (secret->empty() || std::ranges::any_of(*secret, no_text))
    return error{errc::invalid_input, "it is empty or more than one line: it must hold the token alone"};
  return p.user.empty() ? "Bearer " + *secret : "Basic " + http::to_base64(p.user + ":" + *secret);
}

}  // namespace binnacle::sender
