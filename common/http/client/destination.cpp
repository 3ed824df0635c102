#include "common/http/client/destination.hpp"

#include "common/http/base64.hpp"
#include "common/system/read_file.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::http {
namespace {

constexpr std::size_t most_secret = 64u << 10;

}  // namespace

result<destination> parse_destination(std::string_view url, std::string_view setting,
                                      std::string_view example) {
  const auto wrong = [&](std::string_view why) {
    return error{errc::invalid_input, fmt::format("--{} {}: write it as in {}", setting, why, example)};
  };
  const auto parsed = boost::urls::parse_absolute_uri(url);
  if (parsed.has_error()) return wrong("is not a URL");
  // A password in a setting would show in every list of processes.
  if (parsed->has_userinfo()) {
    return error{errc::invalid_input,
                 fmt::format("--{0} holds a user or password: give --{0}-user and --{0}-token", setting)};
  }
  destination out;
  out.secure = parsed->scheme_id() == boost::urls::scheme::https;
  if (!out.secure && parsed->scheme_id() != boost::urls::scheme::http)
    return wrong("has another scheme than https and http");
  if (parsed->has_port() && !read_port(parsed->port()))
    return wrong("has a port that is not from 1 to 65535");
  const auto at = read_endpoint(parsed->encoded_host_and_port(), out.secure ? 443 : 80);
  if (!at) return wrong("has no host");
  out.at = *at;
  out.target = std::string(parsed->encoded_target());
  const bool path_needed = boost::urls::parse_absolute_uri(example).value().encoded_path().size() > 1;
  if (path_needed && (out.target.empty() || out.target == "/")) return wrong("has no path");
  return out;
}

result<void> check_destination(std::string_view url, const proof& p, std::string_view setting,
                               std::string_view example) {
  const auto wrong = [&](std::string_view form) {
    return error{errc::invalid_input, fmt::format(fmt::runtime(form), setting)};
  };
  if (url.empty()) {
    for (const auto& [key, value] :
         {std::pair{"ca", p.pem.authority}, std::pair{"cert", p.pem.certificate}, std::pair{"key", p.pem.key},
          std::pair{"token", p.token_file}, std::pair{"user", p.user}}) {
      if (!value.empty())
        return error{errc::invalid_input,
                     fmt::format("--{0}-{1} is given without --{0}: name the URL, too", setting, key)};
    }
    return {};
  }
  const auto to = parse_destination(url, setting, example);
  if (to.has_error()) return to.error();
  if (p.pem.certificate.empty() != p.pem.key.empty())
    return wrong("--{0}-cert and --{0}-key belong together: give both");
  if (!p.user.empty() && p.token_file.empty())
    return wrong("--{0}-user has no password: name a file with it by --{0}-token");
  const bool secret = !p.token_file.empty() || !p.pem.certificate.empty();
  if (secret && !to->secure)
    return wrong(
        "--{0} is http, which everybody on the way may read: use https with --{0}-token or --{0}-cert");
  return {};
}

result<std::unique_ptr<tls::context>> security_for(const destination& to, const proof& p) {
  if (!to.secure) return std::unique_ptr<tls::context>();
  tls::options o;
  o.side = tls::role::client;
  o.pem = p.pem;
  o.alpn = "http/1.1";
  o.servers = p.pem.authority.empty() ? tls::trust::system : tls::trust::authority;
  return tls::context::load(std::move(o));
}

result<std::string> authorization(const proof& p) {
  auto secret = read_file(p.token_file, most_secret);
  if (secret.has_error()) return secret.error();
  secret->erase(secret->find_last_not_of(" \t\r\n") + 1);
  const auto no_text = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (secret->empty() || std::ranges::any_of(*secret, no_text))
    return error{errc::invalid_input, "it is empty or more than one line: it must hold the token alone"};
  return p.user.empty() ? "Bearer " + *secret : "Basic " + to_base64(p.user + ":" + *secret);
}

}  // namespace binnacle::http
