// The scrape source with real exporters on loopback.
#include "agent/sources/scrape/scrape_source.hpp"

#include "agent/sampling/sampler.hpp"
#include "tests/agent/sources/scrape/exporter.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace scrape_source_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::agent::test;
using support::run;

TEST_SUITE("agent/sources/scrape/source") {
  TEST_CASE("series arrive under their own names with the time of their scrape, and rates follow") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      e.says =
          answer("# HELP jobs_total Jobs.\n# TYPE jobs_total counter\njobs_total{q=\"a\"} 10\nload 0.5\n");
      bench b(on, {e.target()});
      co_await b.next();
      CHECK(b.last);
      CHECK(shown(b.out, "load").substr(0, 3) == "0.5");
      CHECK(shown(b.out, "jobs_per_second", {{"q", "a"}}) == "not_read_yet");
      CHECK(b.up() == "1");
      const auto before = boot_clock::now();
      e.says = answer("# TYPE jobs_total counter\njobs_total{q=\"a\"} 20\nload 0.5\n");
      co_await b.next();
      CHECK(to_double(agent::test::entry_of(b.out, "jobs_per_second", {{"q", "a"}})->value) > 10);
      const auto own = std::ranges::find(b.out.groups(), std::string("exporter"),
                                         [](const auto& g) { return g.info.name; });
      REQUIRE(own != b.out.groups().end());
      CHECK(own->read_at >= before);
      CHECK(e.asked.find("GET /metrics HTTP/1.1\r\n") == 0);
      CHECK(e.asked.find("Accept-Encoding") == e.asked.npos);
      CHECK(b.source->limitation().empty());
    });
  }

  TEST_CASE("an exception where an answer arrives ends no target's scrapes") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      e.says = answer("a 1\n");
      async::task_group tasks(on, quiet);
      const auto something = std::make_shared<async::event>(on);
      const auto arrivals = std::make_shared<int>();
      scrape_options o;
      o.targets = {e.target()};
      scrape_source source(std::move(o));
      source.start(tasks, [something, arrivals] {
        something->notify();
        if (++*arrivals == 1) throw std::runtime_error("as the test wants");
      });
      while (*arrivals < 3) {
        const bool came = co_await something->wait(within(1min));
        REQUIRE(came);
      }
    });
  }

  TEST_CASE("that a target is down is told also when no other is up") {
    run([](async::loop& on) -> task<void> {
      board out;
      sampler reader(out, quiet, clocks{}, sampler_options{});
      async::task_group tasks(on, quiet);
      const auto something = std::make_shared<async::event>(on);
      scrape_options o;
      o.targets = {parse_target("http://127.0.0.1:1/metrics").value()};
      o.targets[0].name = "exporter";
      auto source = std::make_unique<scrape_source>(std::move(o));
      source->start(tasks, [&reader, something] {
        reader.arrived("scrape");
        something->notify();
      });
      reader.add(std::move(source));
      reader.start(boot_clock::now());
      const bool came = co_await something->wait(within(15s));
      REQUIRE(came);
      reader.run(boot_clock::now());
      CHECK(shown(out, "binnacle_agent_scrape_up", {{"target", "exporter"}}) == "0");
      CHECK(shown(out, "binnacle_agent_scrape_series", {{"target", "exporter"}}) == "0");
      REQUIRE(out.statuses().size() == 1);
      CHECK(out.statuses()[0].message.find("Connection refused: start the exporter") != std::string::npos);
    });
  }

  TEST_CASE("an exporter that goes takes its own series, says why, and is back by itself") {
    with_exporter([](async::loop& on, exporter& other) -> task<void> {
      auto e = std::make_unique<exporter>(on);
      e->says = answer("a 1\n");
      other.says = answer("b 1\n");
      auto second = other.target();
      second.name = "other";
      second.period = 1h;
      const auto port = e->door.port();
      bench b(on, {e->target(), second});
      while (shown(b.out, "a").substr(0, 1) != "1") co_await b.next();
      while (shown(b.out, "b").substr(0, 1) != "1") co_await b.next();
      co_await e->end();
      while (b.up() != "0") co_await b.next();
      CHECK(b.last);  // the other target works
      CHECK(shown(b.out, "a") == "missing");
      CHECK(shown(b.out, "b").substr(0, 1) == "1");
      CHECK(b.source->limitation().find("Connection refused: start the exporter") != std::string::npos);
      CHECK(b.source->limitation().find(std::to_string(port)) != std::string::npos);
      e->door = async::listener::open(on, "127.0.0.1", port, quiet).value();
      e->group.spawn("accept", e->accept());
      while (b.up() != "1") co_await b.next();
      CHECK(shown(b.out, "a").substr(0, 1) == "1");
      CHECK(b.source->limitation().empty());
      co_await e->end();
    });
  }

  TEST_CASE("answers that are no metrics are named with the remedy") {
    struct row {
      std::string says, reason, part, remedy;
    };
    const row rows[] = {
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "missing", "answered 404",
         "check the host and the path"},
        {"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n", "missing",
         "a redirect to \"http://elsewhere/\", which is not followed", "name the address"},
        {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "permission", "answered 401",
         "token-file"},
        {"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "no_data", "answered 500", "log"},
        {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", "malformed",
         "a web page", "the path of its metrics"},
        {answer("<a b=c>\n"), "malformed", "line 1:", "the path of its metrics"},
        {answer("a 1\nb \xff\xfe 1\n"), "malformed", "line 2: a byte that is not UTF-8",
         "the path of its metrics"},
        {answer("x", "Content-Encoding: gzip\r\n"), "malformed", "packed (\"gzip\")", "is that the port"},
        {"SSH-2.0-OpenSSH_9.2\r\n", "malformed", "does not speak HTTP", "is that the port"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na 1\n", "missing", "in the middle",
         "start the exporter"},
        {"HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text\r\nContent-Length: 4\r\n\r\na 1\n",
         "malformed", "cut off", ""},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na 1\nb 12", "malformed", "line 2: the text is cut off",
         "the path of its metrics"},
    };
    for (const auto& r : rows) {
      CAPTURE(r.says);
      with_exporter([&r](async::loop& on, exporter& e) -> task<void> {
        e.says = answer("a 1\n");
        bench b(on, {e.target()});
        co_await b.next();
        REQUIRE(shown(b.out, "a").substr(0, 1) == "1");
        e.says = r.says;
        while (b.up() != "0") co_await b.next();
        CHECK(shown(b.out, "a") == r.reason);
        const auto why = b.source->limitation();
        CHECK_MESSAGE(why.find(r.part) != std::string::npos, why);
        CHECK_MESSAGE(why.find(r.remedy) != std::string::npos, why);
      });
    }
  }

  TEST_CASE("more series than are taken: the first ones count, the rest is refused and counted") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      std::string body;
      for (int i = 0; i < 100; ++i) body += "a{i=\"" + std::to_string(i) + "\"} 1\n";
      e.says = answer(body);
      auto t = e.target();
      t.series = 10;
      bench b(on, {t});
      co_await b.next();
      CHECK(b.up() == "1");
      CHECK(shown(b.out, "binnacle_agent_scrape_series", {{"target", "exporter"}}) == "10");
      CHECK(b.refused("bound") == 90);
      CHECK(b.source->limitation().find("90 series more than the 10") != std::string::npos);
    });
  }

  TEST_CASE("duplicates and names of ours are refused and counted, the rest counts") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      e.says = answer("a{x=\"1\",y=\"2\"} 1\na{y=\"2\",x=\"1\"} 5\nrapl_power_watts{package=\"0\"} 5\nb 2\n");
      bench b(on, {e.target()});
      co_await b.next();
      CHECK(b.last);
      CHECK(to_double(agent::test::entry_of(b.out, "a", {{"x", "1"}, {"y", "2"}})->value) == 1);
      CHECK(to_double(agent::test::entry_of(b.out, "b")->value) == 2);
      CHECK(b.refused("duplicate") == 1);
      CHECK(b.refused("built_in_name") == 1);
      CHECK(b.source->limitation().find("a appears twice") != std::string::npos);
    });
  }

  TEST_CASE("a series that another source brings already is refused") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      e.says = answer("a 1\n");
      const auto names = std::make_shared<foreign_names>();
      foreign_origin file(names);
      bench b(on, {e.target()}, names);
      foreign_series one;
      one.name = "a";
      file.apply(b.out.add_group("textfile", "a.prom", 1s, 10s), {one}, boot_clock::now(), b.out);
      co_await b.next();
      CHECK(b.refused("duplicate") == 1);
      CHECK(b.source->limitation().find("a with the same labels comes from elsewhere already") !=
            std::string::npos);
    });
  }

  TEST_CASE("over TLS the exporter must have a certificate of the given CA") {
    const support::temp_folder folder;
    support::authority ours(folder, "ours");
    const support::authority others(folder, "others");
    tls::options o;
    o.pem = ours.issue_server();
    o.clients = tls::client_certificate::none;
    const auto context = tls::context::load(std::move(o)).value();
    const auto body = [&](async::loop& on, exporter& e) -> task<void> {
      e.says = answer("a 1\n");
      auto t = e.target();
      t.secure = true;
      t.server_name = "localhost";
      t.pem.authority = ours.certificate();
      bench b(on, {t});
      co_await b.next();
      CHECK_MESSAGE(shown(b.out, "a").substr(0, 1) == "1", b.source->limitation());
      t.pem.authority = others.certificate();
      bench wrong(on, {t});
      co_await wrong.next();
      CHECK(wrong.up() == "0");
      CHECK(wrong.source->limitation().find("check ca") != std::string::npos);
    };
    with_exporter(body, context->current());
  }

  TEST_CASE("a token as long as a service account's is sent whole over TLS, and none is a reason") {
    const support::temp_folder folder;
    support::authority ours(folder, "ours");
    tls::options o;
    o.pem = ours.issue_server();
    o.clients = tls::client_certificate::none;
    const auto context = tls::context::load(std::move(o)).value();
    const support::temp_folder with_token;
    const std::string token(2048, 't');
    const auto body = [&](async::loop& on, exporter& e) -> task<void> {
      with_token.write("token", token + "\n");
      e.says = answer("a 1\n");
      auto t = e.target();
      t.secure = true;
      t.server_name = "localhost";
      t.pem.authority = ours.certificate();
      t.token_file = with_token / "token";
      bench b(on, {t});
      co_await b.next();
      CHECK_MESSAGE(b.up() == "1", b.source->limitation());
      CHECK(e.asked.find("\r\nAuthorization: Bearer " + token + "\r\n") != std::string::npos);
      with_token.remove("token");
      bench without(on, {t});
      co_await without.next();
      CHECK(without.up() == "0");
      CHECK(without.source->limitation().find("no token: " + (with_token / "token")) != std::string::npos);
    };
    with_exporter(body, context->current());
  }

  TEST_CASE("the probe names what each exporter gives or what would mend it") {
    // The exporter runs on a thread of its own, because the probe blocks.
    async::loop on(1);
    exporter e(on);
    e.says = answer("a 1\nb 2\n");
    auto good = e.target();
    auto bad = *parse_target("http://127.0.0.1:1/metrics");
    scrape_options o;
    o.targets = {good, bad};
    std::thread serving([&on] { on.run_for(10s); });
    scrape_source source(std::move(o));
    const auto found = source.probe();
    on.stop();
    serving.join();
    REQUIRE(found.size() == 2);
    CHECK(found[0].how == finding::grade::works);
    CHECK(found[0].what.find("(2 series of 2 samples, 8 bytes in ") != std::string::npos);
    CHECK(found[1].how == finding::grade::broken);
    CHECK(found[1].why.find("Connection refused") != std::string::npos);
    CHECK(found[1].remedy == "start the exporter, or name another address");
  }
}

}  // namespace

}  // namespace scrape_source_test
