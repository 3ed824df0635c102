#include "cli/client.hpp"

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "tests/cli/samples.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

using namespace binnacle;
using namespace binnacle::cli;

namespace {

http::router routes() {
  http::router r;
  r.add("GET", "/api/v1/status", [](const http::request& q, std::string_view) {
    const std::string* shown = q.header("authorization");
    return q.peer || (shown != nullptr && *shown == "Bearer ann's")
               ? http::response::json(status_sample)
               : http::response::failure(401, "present a client certificate");
  });
  r.add("GET", "/api/v1/nodes", [](const http::request& q, std::string_view) {
    if (q.parameter("metric") != nullptr && *q.parameter("metric") == "bad metric")
      return http::response::failure(400, "no such metric");
    return http::response::json(nodes_sample);
  });
  r.add("GET", "/api/v1/decisions", [](const http::request& q, std::string_view) {
    const std::string& pod = *q.parameter("pod");
    if (pod == "has-many")
      return http::response::json(std::string(R"({"decisions":[)") + filter_sample + R"(],"omitted":2})");
    const bool known = pod == "default/web";
    return http::response::json(known ? std::string(R"({"decisions":[)") + filter_sample + "]}"
                                      : R"({"decisions":[]})");
  });
  r.add("GET", "/api/v1/policies",
        [](const http::request&, std::string_view) { return http::response::json(policies_sample); });
  // At most 20 pods are placed: if more are asked for, one finds no room.
  r.add("GET", "/api/v1/what-if", [](const http::request& q, std::string_view) {
    if (q.parameter("policy") != nullptr && *q.parameter("policy") != "default/watts")
      return http::response::failure(404, "no policy of that name");
    const int pods = std::stoi(*q.parameter("pods"));
    return http::response::json(fmt::format(
        R"({{"policy":"default/watts","objective":"BestChord","maxLoad":0.9,"pods":{},"cpu":"{}","podCores":0.5,"placed":{},)"
        R"("knownNodes":1,"wattsNow":100.0,"wattsThen":110.0,"nodes":[{{"node":"node-a","pods":{}}}]}})",
        pods, *q.parameter("cpu"), std::min(pods, 20), std::min(pods, 20)));
  });
  r.add("GET", "/text", [](const http::request&, std::string_view) { return http::response::text("hello"); });
  return r;
}

/// An aggregator's ops port with TLS, and the authorities of its callers.
struct replica {
  support::temp_folder dir;
  support::authority ca{dir, "clients"};
  support::authority other{dir, "other"};
  tls::files server_files = ca.issue_server();
  tls::files me = ca.issue("admin", {.common_name = "admin", .extended_key_usage = "clientAuth"});
  support::served server;

  replica() : server(routes(), options()) {}
  http::server_options options() const {
    tls::options o;
    o.pem = server_files;
    o.clients = tls::client_certificate::optional;
    http::server_options s;
    s.tls = tls::context::load(std::move(o)).value();
    return s;
  }
  std::string url(const char* scheme = "https") const {
    return std::string(scheme) + "://localhost:" + std::to_string(server.port());
  }
  result<client::answer> get(const std::string& target, const tls::files& as) const {
    return get(target, connection{{}, as});
  }
  result<client::answer> get(const std::string& target, const connection& as) const {
    auto c = client::open(parse_server_url(url()).value(), as);
    if (c.has_error()) return c.error();
    return c->get(target);
  }
};

/// The URL of a port on which nobody listens: a server had it and has just closed it.
std::string dead_url() {
  const std::uint16_t port = support::served(routes()).port();
  return "https://127.0.0.1:" + std::to_string(port);
}

struct output {
  std::ostringstream out, err;
  terminal on{out, err, {}, false, false};
};

}  // namespace

TEST_SUITE("cli/client") {
  TEST_CASE_FIXTURE(replica, "an answer is JSON and its text") {
    const auto a = get("/api/v1/status", me);
    REQUIRE(a.has_value());
    CHECK(text(a->json, "version") == "0.1.0");
    CHECK(a->text == status_sample);
  }

  TEST_CASE_FIXTURE(replica, "what goes wrong is said with the address and the remedy") {
    tls::files stranger = me;
    stranger.certificate.clear();
    stranger.key.clear();
    CHECK(get("/api/v1/status", stranger).error().message ==
          url() + " refused: present a client certificate (--cert and --key, or --token-file)");
    CHECK(get("/api/v1/nodes?metric=bad%20metric", me).error().message == url() + " refused: no such metric");
    CHECK(get("/text", me).error().message.find("answered no JSON") != std::string::npos);

    tls::files wrong_ca = me;
    wrong_ca.authority = other.certificate();
    const auto untrusted = get("/api/v1/status", wrong_ca);
    REQUIRE(untrusted.has_error());
    CHECK(untrusted.error().code == errc::permission);
    CHECK(untrusted.error().message.find("check --ca") != std::string::npos);

    tls::files none;
    CHECK(get("/api/v1/status", none).error().message == "no certificate authority is given to verify " +
                                                             url() +
                                                             " with: name the file with --ca or BINNACLE_CA");
    tls::files half = me;
    half.key.clear();
    CHECK(get("/api/v1/status", half).error().message ==
          "--cert and --key belong together: give both or neither");

    auto plain = client::open(parse_server_url(url("http")).value(), {});
    REQUIRE(plain.has_value());
    CHECK(plain->get("/api/v1/status").has_error());
  }

  TEST_CASE_FIXTURE(replica, "a token in a file is shown in place of a certificate, as it is now") {
    connection as;
    as.pem.authority = me.authority;
    as.token_file = dir.path() + "/token";
    const std::string named = "--token-file " + as.token_file + ": ";
    const std::string remedy = "; `kubectl create token ACCOUNT > FILE` writes one";
    CHECK(get("/api/v1/status", as).error().message == named + "No such file or directory" + remedy);
    const auto write = [&](const char* text) { std::ofstream(as.token_file) << text; };
    write("");
    CHECK(get("/api/v1/status", as).error().message ==
          named + "it is empty or more than one line: it must hold the token alone" + remedy);
    write("bob's\n");
    const auto c = client::open(parse_server_url(url()).value(), as);
    REQUIRE(c.has_value());
    CHECK(c->get("/api/v1/status").error().message ==
          url() + " refused: present a client certificate (--cert and --key, or --token-file)");
    write("ann's\n");
    CHECK(c->get("/api/v1/status").has_value());

    CHECK(client::open(parse_server_url(url("http")).value(), as).error().message ==
          url("http") + " is http, where everybody on the way could read your token: write https");
  }

  TEST_CASE("who lacks a right is told the command that grants it") {
    const server_url from = parse_server_url("https://a").value();
    const auto refused = [&](const std::string& user) {
      http::answer a;
      a.status = 403;
      a.body = to_text(json::object{
          {"error", "forbidden: User \"" + user + "\" cannot get path \"/binnacle/api/v1/nodes\""}});
      const std::string said = understood(from, a).error().message;
      return said.substr(said.find("\"; ") + 3);
    };
    const std::string grant =
        "whoever administers the cluster grants that by: kubectl create clusterrolebinding ";
    CHECK(refused("Ann@example.com") ==
          grant + "binnacle-reader-ann-example-com --clusterrole binnacle-ops-reader --user Ann@example.com");
    CHECK(refused("system:serviceaccount:binnacle:reader") ==
          grant +
              "binnacle-reader-binnacle-reader --clusterrole binnacle-ops-reader "
              "--serviceaccount binnacle:reader");
    for (const char* odd : {"a; rm -rf ~", "$(id)", "a b", "\" cannot "})
      CHECK(refused(odd).ends_with("binnacle-reader-user --clusterrole binnacle-ops-reader --user USER"));
  }

  TEST_CASE("nobody there is told from nobody answering") {
    support::temp_folder dir;
    support::authority ca(dir, "clients");
    tls::files pem;
    pem.authority = ca.certificate();
    const auto c = client::open(parse_server_url(dead_url()).value(), {{}, pem});
    REQUIRE(c.has_value());
    const auto a = c->get("/api/v1/status");
    REQUIRE(a.has_error());
    CHECK(a.error().code == errc::disconnected);
    CHECK(a.error().message.starts_with("cannot reach " + c->url() + ": "));
    CHECK(a.error().message.ends_with(
        "; is binnacle-aggregator running there? --aggregator names another address"));
  }
}

TEST_SUITE("cli/commands") {
  TEST_CASE_FIXTURE(replica, "status is 0 with an answer and 1 without, and shows what it got") {
    output good;
    CHECK(status_command({{url()}, me}, {}, good.on) == exit_ok);
    CHECK(good.out.str().starts_with("binnacle-aggregator 0.1.0, replica agg-1"));
    CHECK(good.err.str().empty());

    output half;
    CHECK(status_command({{dead_url(), url()}, me}, {}, half.on) == exit_problem);
    CHECK(half.out.str().starts_with("binnacle-aggregator 0.1.0"));
    CHECK(half.err.str().starts_with("binnacle: cannot reach https://127.0.0.1:"));

    output odd;
    CHECK(status_command({{"ftp://x"}, me}, {}, odd.on) == exit_problem);
    CHECK(odd.err.str().starts_with("binnacle: 'ftp://x' is not an address of an aggregator"));
  }

  TEST_CASE_FIXTURE(replica, "status is 1 when fewer nodes are connected than are expected") {
    const auto connected = integer(object(json::parse(status_sample), "nodes"), "connected");
    output enough;
    CHECK(status_command({{url()}, me}, {connected}, enough.on) == exit_ok);
    output few;
    CHECK(status_command({{url()}, me}, {connected + 1}, few.on) == exit_problem);
    CHECK(few.out.str() == enough.out.str());
    CHECK(few.err.str().find(" are expected: see `binnacle doctor`") != std::string::npos);
  }

  TEST_CASE_FIXTURE(replica,
                    "one replica's JSON comes as it is; for several there is a list, however many answer") {
    output one;
    terminal on{one.out, one.err, {}, true, false};
    CHECK(status_command({{url()}, me}, {}, on) == exit_ok);
    CHECK(one.out.str() == std::string(status_sample) + "\n");

    output two;
    terminal both{two.out, two.err, {}, true, false};
    CHECK(status_command({{url(), url()}, me}, {}, both) == exit_ok);
    const auto told = json::parse(two.out.str());
    REQUIRE(list(told, "aggregators").size() == 2);
    CHECK(text(list(told, "aggregators")[1], "aggregator") == url());

    output half;
    terminal one_answers{half.out, half.err, {}, true, false};
    CHECK(status_command({{url(), dead_url()}, me}, {}, one_answers) == exit_problem);
    CHECK(list(json::parse(half.out.str()), "aggregators").size() == 1);
  }

  TEST_CASE_FIXTURE(replica, "top prints once when nobody watches, from the first replica that answers") {
    output t;
    CHECK(top_command({{dead_url(), url()}, me}, {{"os_memory_available_bytes"}}, t.on) == exit_ok);
    CHECK(t.out.str().find("node-b") != std::string::npos);
    CHECK(t.out.str().find("8 GiB") != std::string::npos);
    CHECK(t.out.str().find('\x1b') == std::string::npos);

    output as_json;
    terminal on{as_json.out, as_json.err, {}, true, true};  // standard output is a terminal here
    CHECK(top_command({{dead_url(), url()}, me}, {{"os_memory_available_bytes"}}, on) == exit_ok);
    CHECK(as_json.out.str() == nodes_sample);
    CHECK(as_json.err.str().empty());

    output refused;
    CHECK(top_command({{url()}, me}, {{"bad metric"}}, refused.on) == exit_problem);
    CHECK(refused.err.str() == "binnacle: " + url() + " refused: no such metric\n");
  }

  TEST_CASE_FIXTURE(replica, "policy list is 1 when a policy has an error") {
    output listed;
    CHECK(policy_list_command({{url()}, me}, listed.on) == exit_problem);
    CHECK(listed.out.str().find("power.yaml:12: error: ") != std::string::npos);
    CHECK(listed.err.str().empty());
  }

  TEST_CASE_FIXTURE(replica,
                    "what-if asks the first replica that answers, and is 1 when some pods find no room") {
    output all;
    CHECK(what_if_command({{dead_url(), url()}, me}, {20, "500m", "default/watts"}, all.on) == exit_ok);
    CHECK(
        all.out.str().starts_with("20 pods of 500m CPU by policy default/watts (BestChord up to 90 % load): "
                                  "10.0 W more, 1.00 W a core\n"));
    CHECK(all.err.str().starts_with("binnacle: cannot reach "));

    output some;
    CHECK(what_if_command({{url()}, me}, {21, "500m", ""}, some.on) == exit_problem);
    CHECK(some.out.str().find("1 pod without room") != std::string::npos);
    CHECK(some.err.str().empty());

    output as_json;
    terminal on{as_json.out, as_json.err, {}, true, false};
    CHECK(what_if_command({{url()}, me}, {3, "+1", ""}, on) == exit_ok);
    const auto told = json::parse(as_json.out.str());
    CHECK(integer(told, "placed") == 3);
    CHECK(text(told, "cpu") == "+1");  // escaped on its way

    for (const char* cpu : {"-1", "0", "1x", "NaN", "4 ", "", "1025"}) {
      CAPTURE(cpu);
      output wrong;
      CHECK(what_if_command({{url()}, me}, {1, cpu, ""}, wrong.on) == exit_usage);
      CHECK(wrong.err.str().starts_with("binnacle: --cpu: write what one pod requests"));
    }

    output refused;
    CHECK(what_if_command({{url()}, me}, {1, "4", "default/else"}, refused.on) == exit_problem);
    CHECK(refused.err.str() == "binnacle: " + url() + " refused: no policy of that name\n");
    CHECK(refused.out.str().empty());
  }

  TEST_CASE_FIXTURE(replica, "why asks every replica and says when nobody knows the pod") {
    output w;
    CHECK(why_command({{url(), url()}, me}, {.pod = "default/web"}, w.on) == exit_ok);

    output half;
    CHECK(why_command({{url(), dead_url()}, me}, {.pod = "default/web"}, half.on) == exit_problem);
    CHECK(half.out.str().find("node-b  refused") != std::string::npos);
    CHECK(half.err.str().find("cannot reach") != std::string::npos);

    output cut;
    CHECK(why_command({{url()}, me}, {.pod = "has-many"}, cut.on) == exit_ok);
    CHECK(cut.err.str().find(url() + ": 2 older decisions had no room in the answer") != std::string::npos);

    output nobody;
    CHECK(why_command({{url()}, me}, {.pod = "ghost"}, nobody.on) == exit_problem);
    CHECK(nobody.err.str().starts_with("binnacle: no decision about a pod matching 'ghost' is kept"));
    CHECK(nobody.err.str().find("only about pods with the limit telemetry/scheduling in a container "
                                "(resources: {limits: {telemetry/scheduling: \"0\"}})") != std::string::npos);

    output filtered;
    why_arguments wants{.pod = "ghost", .node = "nosuch"};
    CHECK(why_command({{url()}, me}, wants, filtered.on) == exit_problem);
    wants.policy = "none";
    CHECK(why_command({{url()}, me}, wants, filtered.on) == exit_problem);
    CHECK_MESSAGE(filtered.err.str() ==
                      "binnacle: no decision about a pod matching 'ghost' and the node 'nosuch' is kept: ask "
                      "without --node, to see all that are kept about the pod\n"
                      "binnacle: no decision of the policy 'none' about a pod matching 'ghost' and the node "
                      "'nosuch' is kept: ask without --policy and --node, to see all that are kept about the "
                      "pod\n",
                  "defect: it was said that kube-scheduler had not asked");

    output as_json;
    terminal on{as_json.out, as_json.err, {}, true, false};
    CHECK(why_command({{url()}, me}, {.pod = "default/web"}, on) == exit_ok);
    const auto told = json::parse(as_json.out.str());
    REQUIRE(list(told, "decisions").size() == 1);
    CHECK(text(list(told, "decisions")[0], "aggregator") == url());
    CHECK(why_command({{url(), dead_url()}, me}, {.pod = "default/web"}, on) == exit_problem);
  }
}
