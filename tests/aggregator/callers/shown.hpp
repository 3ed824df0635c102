#pragma once

#include "common/http/router.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/served.hpp"

#include <string>

namespace binnacle::callers::test {

/// A server that asks for a client certificate and accepts any. `seen` is what it last saw of a peer.
struct mirror {
  support::temp_folder dir;
  support::authority ours{dir, "ours"}, cluster{dir, "cluster"}, proxy{dir, "proxy"};
  tls::files nobody{.certificate = {}, .key = {}, .authority = ours.certificate()};
  http::request seen;
  support::served server{routes(), options()};

  http::router routes() {
    http::router out;
    out.add_prefix("/", [this](const http::request& r, std::string_view) {
      seen = r;
      return http::response::json("{}");
    });
    return out;
  }
  http::server_options options() {
    tls::options o;
    o.pem = ours.issue_server();
    o.clients = tls::client_certificate::optional;
    http::server_options s;
    s.tls = tls::context::load(std::move(o)).value();
    return s;
  }
  /// A request as the server receives it from a client with this certificate.
  http::request from(tls::files pem, const support::https_client::header_list& headers = {},
                     const std::string& target = "/apis") {
    support::https_client::options o;
    o.port = server.port();
    o.pem = std::move(pem);
    o.pem.authority = ours.certificate();
    support::https_client client(std::move(o));
    if (client.get(target, headers).status != 200) throw std::runtime_error("the mirror did not answer");
    return seen;
  }
};

inline support::wanted for_client(std::string name, std::vector<std::string> groups = {}) {
  support::wanted out;
  out.common_name = std::move(name);
  out.organizations = std::move(groups);
  out.extended_key_usage = "clientAuth";
  return out;
}

}  // namespace binnacle::callers::test
