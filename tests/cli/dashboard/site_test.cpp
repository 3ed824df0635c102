// The dashboard's server on loopback. It asks a real ops port that gives sample answers.
#include "cli/dashboard/site.hpp"

#include "aggregator/policy/comparison.hpp"
#include "cli/dashboard/assets.hpp"
#include "cli/json.hpp"
#include "common/async/task_group.hpp"
#include "common/http/client/client.hpp"
#include "common/http/server.hpp"
#include "tests/cli/samples.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <vector>
#include <zlib.h>

namespace site_test {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::dashboard;
using namespace std::chrono_literals;
using support::https_client;

/// An aggregator's ops port. The port's thread reads `state`.
struct aggregator {
  std::atomic<int> asked{0};
  std::atomic<int> watts{20};
  std::atomic<bool> refuses{false};
  std::atomic<bool> is_linked{false};
  std::atomic<bool> asked_for_extra{false};
  std::atomic<int> asked_for_node{0};
  support::served face{routes()};

  http::router routes() {
    http::router r;
    r.add("GET", "/api/v1/nodes", [this](const http::request& q, std::string_view) {
      ++asked;
      if (q.parameter("metric") != nullptr && *q.parameter("metric") == "extra") asked_for_extra = true;
      if (refuses)
        return http::response::failure(403, R"(forbidden: User "ann" cannot get path "/api/v1/nodes")");
      return http::response::json(fmt::format(
          R"({{"metrics":[{{"name":"p","unit":"watts"}}],"total":1,"omitted":0,"nodes":[{{"name":"<b>a</b>\n","connected":{},"values":{{"p":{{"value":{},"ageMs":1}}}},"verdicts":[]}}]}})",
          is_linked.load(), watts++));
    });
    r.add("GET", "/api/v1/status",
          [](const http::request&, std::string_view) { return http::response::json(status_sample); });
    r.add("GET", "/api/v1/decisions", [](const http::request& q, std::string_view) {
      const std::string* pod = q.parameter("pod");
      const bool is_cut = pod != nullptr && *pod == "has-many";
      return http::response::json(std::string(R"({"decisions":[)") + filter_sample +
                                  (is_cut ? R"(],"omitted":2})" : "]}"));
    });
    r.add_prefix("/api/v1/nodes", [this](const http::request& q, std::string_view) {
      ++asked_for_node;
      if (refuses) return http::response::failure(403, "get nodes is not allowed to you");
      return q.path.back() == "a/b" ? http::response::json(R"({"name":"a/b"})")
                                    : http::response::failure(404, "no agent of that name");
    });
    return r;
  }
};

/// Checks of the doctor: one finds something, one fails.
std::vector<doctor::check> doctor_checks() {
  const auto found = [](const doctor::place&) {
    return doctor::findings{doctor::warning("one pod waits", "look at it")};
  };
  const auto throws = [](const doctor::place&) -> doctor::findings { throw std::runtime_error("no file"); };
  return {{"pods", "pods that wait", found}, {"rights", "what is allowed", throws}};
}

/// The dashboard's server, on a thread of its own.
struct site {
  async::loop loop{1};
  boost::asio::executor_work_guard<async::executor> work{loop.get_executor()};
  const logger log{"test", log_level::off};
  door who{random_secret};
  std::optional<rounds> doctor;
  std::optional<pod_names> names;
  std::optional<feed> pages;
  std::unique_ptr<history::database> past;
  std::optional<http::server> server;
  std::thread thread;

  explicit site(const std::vector<std::string>& aggregators, http::server_options o = {},
                const std::string& database = "") {
    if (!database.empty()) past = history::database::open(loop, {database, {}, {}}, log).value();
    connection to;
    to.aggregators = aggregators;
    doctor.emplace(
        loop, [] { return doctor::place{}; }, doctor_checks());
    names.emplace(loop, [] { return doctor::place{}; });
    pages.emplace(loop, upstream::open(to).value(), *doctor, *names, log);
    o.address = "127.0.0.1";
    o.name = "dashboard";
    server.emplace(loop, o, routes(who, *pages, past.get()), log);
    server->start().value();
    who.serve_at(server->port());
    thread = std::thread([this] { async::run(loop, log); });
  }
  ~site() {
    on_loop([this] {
      server.reset();
      pages->stop();
      if (past) past->stop();
    });
    work.reset();
    thread.join();  // ends when every coroutine has ended
  }
  site(const site&) = delete;
  site& operator=(const site&) = delete;

  void on_loop(const std::function<void()>& what) {
    std::promise<void> done;
    async::post(loop, [&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  }
  std::string host() const { return fmt::format("127.0.0.1:{}", server->port()); }
  https_client browser(std::string as_host = {}) const {
    https_client::options o;
    o.port = server->port();
    o.server_name = as_host.empty() ? host() : as_host;
    return https_client(o);
  }
  std::string key() {
    std::string link;
    on_loop([&] { link = who.new_link(boot_clock::now()); });
    auto b = browser();
    const auto answer = b.post("/open", fmt::format(R"({{"link":"{}"}})", link));
    REQUIRE(answer.status == 200);
    return text(json::parse(answer.body), "key");
  }
  /// The headers that a page sends with each request.
  https_client::header_list page(const std::string& key) const {
    return {{"Authorization", "Bearer " + key}};
  }
};

std::string url(const aggregator& a) { return fmt::format("http://127.0.0.1:{}", a.face.port()); }

/// Reads a page's stream, and calls `enough` with each event's name and data, until it returns true.
void follow(const site& s, const std::string& key, std::string target,
            const std::function<bool(const std::string& name, const json::value& data)>& enough) {
  support::run(
      [&](async::loop&) -> async::task<void> {
        http::server_address to{"127.0.0.1", s.server->port(), {}};
        http::client peer(to, nullptr, "test");
        http::call what;
        what.target = target;
        what.headers = s.page(key);
        auto stream = co_await peer.open(std::move(what), async::within(60s));
        REQUIRE(stream.has_value());
        REQUIRE(stream->head().status == 200);
        std::string got;
        for (;;) {
          const auto piece = co_await stream->next(async::within(60s));
          REQUIRE(piece.has_value());
          got += *piece;
          for (auto end = got.find("\n\n"); end != got.npos; end = got.find("\n\n")) {
            const std::string event = got.substr(0, end);
            got.erase(0, end + 2);
            if (event.starts_with(":")) continue;
            const auto line = event.find("\ndata: ");
            REQUIRE(event.starts_with("event: "));
            REQUIRE(line != event.npos);
            if (enough(event.substr(7, line - 7), json::parse(event.substr(line + 7)))) co_return;
          }
        }
      },
      std::chrono::seconds(120));
}

TEST_SUITE("cli/dashboard/site") {
  TEST_CASE("the page's files are served to a browser, and tell it to load nothing from elsewhere") {
    aggregator a;
    site s({url(a)});
    auto b = s.browser();
    std::size_t bytes = 0;
    for (const asset& file : assets()) {
      INFO(std::string(file.path));
      const auto answer = b.get(std::string(file.path));
      CHECK(answer.status == 200);
      CHECK(answer.body == file.text);
      CHECK(answer.headers.at("content-type") == file.content_type);
      CHECK(answer.headers.at("content-security-policy").starts_with("default-src 'none'"));
      CHECK(answer.headers.at("x-content-type-options") == "nosniff");
      bytes += file.text.size();
    }
    CHECK(assets().size() > 10);
    CHECK(bytes > 200'000);  // Chart.js is among them
    const auto unknown = b.get("/etc/passwd");
    CHECK(unknown.status == 404);
    CHECK(unknown.headers.contains("content-security-policy"));
    CHECK(a.asked == 0);
  }

  TEST_CASE("all files of the page together are small: 300 kB compressed at most") {
    std::size_t bytes = 0;
    for (const asset& file : assets()) {
      uLongf size = compressBound(file.text.size());
      std::vector<Bytef> packed(size);
      REQUIRE(compress2(packed.data(), &size, reinterpret_cast<const Bytef*>(file.text.data()),
                        file.text.size(), Z_BEST_COMPRESSION) == Z_OK);
      bytes += size;
    }
    MESSAGE("the page takes " << bytes << " bytes compressed");
    CHECK(bytes <= 300'000);
    CHECK(bytes > 50'000);  // Chart.js is among them
  }

  TEST_CASE("the page knows the operators of policies from the program's list alone") {
    aggregator a;
    site s({url(a)});
    const auto answer = s.browser().get("/operators.js");
    CHECK(answer.status == 200);
    CHECK(answer.headers.at("content-type") == "text/javascript; charset=utf-8");
    constexpr std::string_view begin = "export const OPERATORS = ", end = ";\n";
    REQUIRE(answer.body.starts_with(begin));
    REQUIRE(answer.body.ends_with(end));
    const json::value operators =
        json::parse(answer.body.substr(begin.size(), answer.body.size() - begin.size() - end.size()));
    CHECK(operators.as_object().size() == policy::comparisons.size());
    for (const policy::comparison op : policy::comparisons) {
      const policy::comparison_facts c = facts(op);
      INFO(std::string(c.name));
      const json::value* facts = operators.as_object().if_contains(c.name);
      REQUIRE(facts != nullptr);
      CHECK(facts->at("at").as_bool() == c.at_target);
      CHECK(facts->at("above").as_bool() == (c.towards == policy::direction::larger));
      CHECK(facts->at("below").as_bool() == (c.towards == policy::direction::smaller));
      for (const asset& file : assets()) {
        INFO(std::string(file.path));
        CHECK(file.text.find('"' + std::string(c.name) + '"') == file.text.npos);
      }
    }
  }

  TEST_CASE(
      "without the key of a link, for another host or from another site nothing of the cluster is told") {
    aggregator a;
    site s({url(a)});
    auto b = s.browser();
    const std::string key = s.key();
    for (const char* path : {"/live?topic=fleet", "/families", "/history?span=1h&metric=os_load1"}) {
      INFO(path);
      CHECK(b.get(path).status == 401);
      CHECK(s.browser("evil.example").get(path, s.page(key)).status == 403);
      CHECK(b.get(path, {{"Authorization", "Bearer " + key}, {"Origin", "http://evil.example"}}).status ==
            403);
    }
    CHECK(b.post("/link", "").status == 401);
    CHECK(b.post("/open", R"({"link":"guess"})").status == 401);
    CHECK(b.post("/open", "not JSON").status == 401);
    CHECK(s.browser("evil.example").get("/").status == 403);
    CHECK(a.asked == 0);

    CHECK(b.get("/families", s.page(key)).status == 200);
    const auto link = text(json::parse(b.post("/link", "", s.page(key)).body), "link");
    CHECK(link.starts_with("http://" + s.host() + "/#link="));
    const auto other = link.substr(link.find("#link=") + 6);
    const std::string body = fmt::format(R"({{"link":"{}"}})", other);
    CHECK(b.post("/open", body).status == 200);
    CHECK(b.post("/open", body).status == 401);
  }

  TEST_CASE("history is asked of the database that is set, by names alone") {
    aggregator a;
    const auto said = [](const https_client::answer& answer) {
      return text(json::parse(answer.body), "error");
    };
    site without({url(a)});
    auto b = without.browser();
    const std::string key = without.key();
    const auto none = b.get("/history?span=1h&metric=os_load1", without.page(key));
    CHECK(none.status == 404);
    CHECK(said(none).find("--history URL") != std::string::npos);
    CHECK(list(json::parse(b.get("/families", without.page(key)).body), "spans").empty());

    std::atomic<int> asked{0};
    http::router prometheus;
    prometheus.add("GET", "/api/v1/query_range", [&](const http::request&, std::string_view) {
      ++asked;
      return http::response::json(R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
    });
    support::served database(std::move(prometheus));
    site with({url(a)}, {}, fmt::format("http://127.0.0.1:{}", database.port()));
    auto c = with.browser();
    const std::string other = with.key();
    CHECK(list(json::parse(c.get("/families", with.page(other)).body), "spans").size() == 5);
    const auto told = c.get("/history?span=1h&metric=os_load1", with.page(other));
    CHECK(told.status == 200);
    CHECK(told.headers.contains("content-security-policy"));
    CHECK(text(json::parse(told.body), "query").find("os_load1") != std::string::npos);
    CHECK(asked == 1);
    CHECK(c.get("/history?span=1h&query=up", with.page(other)).status == 400);
    CHECK(c.get("/history?span=1h&metric=rapl_power_watts_0", with.page(other)).status == 502);
    CHECK(asked == 1);
  }

  TEST_CASE("a page without a stream asks again and again, and gets each change once") {
    aggregator a;
    site s({url(a)});
    const auto page = s.page(s.key());
    auto b = s.browser();
    const auto ask = [&](const std::string& query) { return b.get("/changes?" + query, page); };
    /// Asks until something is new.
    const auto news = [&](const std::string& query) {
      for (;; std::this_thread::sleep_for(20ms)) {
        const auto answer = ask(query);
        REQUIRE(answer.status == 200);
        CHECK(answer.headers.at("content-type") == "text/event-stream");
        if (!answer.body.empty()) return answer.body;
      }
    };
    CHECK(b.get("/changes?stream=one&topic=fleet").status == 401);
    CHECK(ask("topic=fleet").status == 400);
    const std::string first = news("stream=one&topic=fleet");
    CHECK(first.find("\"whole\":true") != first.npos);
    const std::string second = news("stream=one&topic=fleet");  // the watts change with each answer
    CHECK(second.find("\"whole\":true") == second.npos);
    CHECK(second.find("\"p\"") != second.npos);
    // It shows something else: the fleet goes on, and the new topic begins.
    const std::string third = news("stream=one&topic=fleet&topic=status");
    CHECK(third.find("\"whole\":true") == third.npos);
    // Another page has what it asks for from the beginning.
    CHECK(news("stream=two&topic=fleet").find("\"whole\":true") != first.npos);
    CHECK(ask("stream=two&topic=fleet&metric=1&metric=2&metric=3&metric=4&metric=5").status == 429);
    CHECK(ask("stream=two&topic=fleet").status == 200);
  }

  TEST_CASE("a page without a stream that no longer asks is forgotten, and costs the aggregator nothing") {
    aggregator a;
    site s({url(a)});
    const auto page = s.page(s.key());
    auto b = s.browser();
    for (std::size_t i = 0; i < feed::most_askers; ++i)
      CHECK(b.get(fmt::format("/changes?stream={}&topic=fleet", i), page).status == 200);
    const auto refused = b.get("/changes?stream=more&topic=fleet", page);
    CHECK(refused.status == 429);
    CHECK(refused.body.find("close some") != refused.body.npos);
    const auto pages = [&] {
      feed::totals now;
      s.on_loop([&] { now = s.pages->counters(); });
      return now.pages;
    };
    CHECK(pages() == feed::most_askers);
    while (pages() > 0) std::this_thread::sleep_for(200ms);
    const int asked = a.asked;
    std::this_thread::sleep_for(2500ms);
    CHECK(a.asked == asked);
    CHECK(b.get("/changes?stream=more&topic=fleet", page).status == 200);
  }

  TEST_CASE("why pods have no names is told") {
    aggregator a;
    site s({url(a)});
    follow(s, s.key(), "/live?topic=pods%2Fn1", [](const std::string& name, const json::value& data) {
      CHECK(name == "pods");
      CHECK(text(data, "about") == "n1");
      CHECK(text(data, "error") == "no kubeconfig is given (--kube-config or KUBECONFIG)");
      return true;
    });
    CHECK(s.browser().get("/live?topic=pods%2F", s.page(s.key())).status == 400);
  }

  TEST_CASE("bounds: bodies, headers, topics and metrics") {
    aggregator a;
    site s({url(a)}, {.header_limit = 16u << 10});
    const auto page = s.page(s.key());
    auto b = s.browser();
    CHECK(b.get("/live", page).status == 400);
    CHECK(b.get("/live?topic=secrets", page).status == 400);
    CHECK(b.get("/live?topic=fleet&limit=9", page).status == 400);
    CHECK(b.get("/live?topic=fleet&metric=" + std::string(300, 'm'), page).status == 400);
    std::string many = "/live?topic=fleet";
    for (int i = 0; i < 5; ++i) many += fmt::format("&metric=m{}", i);
    CHECK(b.get(many, page).status == 429);
    many = "/live?topic=fleet";
    for (int i = 0; i < 65; ++i) many += fmt::format("&topic=node/n{}", i);
    CHECK(b.get(many, page).status == 429);
    CHECK(b.post("/open", std::string(5000, 'x')).status == 413);
    auto c = s.browser();
    const auto refused = c.get("/" + std::string(20'000, 'x'));
    CHECK(refused.status == 431);
    CHECK(refused.headers.contains("content-security-policy"));
  }

  TEST_CASE("a page is told the fleet, then what changes; names arrive as they are") {
    aggregator a;
    site s({url(a)});
    int events = 0;
    double last = 0;
    follow(s, s.key(), "/live?topic=fleet&metric=extra",
           [&](const std::string& name, const json::value& data) {
             CHECK(name == "fleet");
             CHECK(flag(data, "whole") == (events == 0));
             REQUIRE(list(data, "nodes").size() == 1);
             const json::value& node = list(data, "nodes")[0];
             CHECK(node.at("name").as_string() == "<b>a</b>\n");
             const double watts = number(node.at("values").at("p"), "value").value();
             CHECK(watts > last);
             last = watts;
             return ++events == 3;
           });
    CHECK(a.asked_for_extra);
  }

  TEST_CASE("what many pages follow is asked for once, and no longer than they do") {
    aggregator a;
    site s({url(a)});
    const std::string key = s.key();
    std::vector<std::unique_ptr<feed::follower>> pages;
    const auto version = [&] {
      std::uint64_t v = 0;
      s.on_loop([&] { v = s.pages->counters().asked; });
      return v;
    };
    s.on_loop([&] {
      for (int i = 0; i < 10; ++i) pages.push_back(s.pages->follow({{subject::fleet}}, {}, [] {}).value());
      CHECK(s.pages->counters().pages == 10);
    });
    while (version() < 3) std::this_thread::sleep_for(5ms);
    s.on_loop([&] {
      // The pages have taken nothing so far, so each gets the whole fleet in one event.
      for (auto& p : pages) CHECK(p->next().starts_with("event: fleet\n"));
      for (auto& p : pages) CHECK(p->next().empty());
    });
    CHECK(static_cast<std::uint64_t>(a.asked) <= version());
    s.on_loop([&] { pages.clear(); });
    s.on_loop([&] { CHECK(s.pages->counters().topics == 0); });
  }

  TEST_CASE("a slow page is told the newest, and what it missed is counted") {
    aggregator a;
    site s({url(a)});
    std::unique_ptr<feed::follower> page;
    std::atomic<int> woken{0};
    s.on_loop([&] { page = s.pages->follow({{subject::fleet}}, {}, [&] { ++woken; }).value(); });
    const auto wait_for = [&](int more) {
      for (const int until = woken + more; woken < until;) std::this_thread::sleep_for(5ms);
    };
    wait_for(1);
    s.on_loop([&] { CHECK(page->next().find(R"("whole":true)") != std::string::npos); });
    wait_for(3);
    s.on_loop([&] {
      const int newest = a.watts - 1;
      const std::string event = page->next();
      CHECK(event.find(R"("whole":false)") != std::string::npos);
      CHECK(event.find(fmt::format(R"("value":{},)", newest)) != std::string::npos);
      CHECK(event.find("event: ", 1) == std::string::npos);  // one, not three
      CHECK(s.pages->counters().conflated >= 2);
    });
    s.on_loop([&] { page.reset(); });
  }

  TEST_CASE(
      "the metrics of all pages are bounded; the count of CPUs, which each page asks for, is none of them") {
    aggregator a;
    site s({url(a)});
    std::vector<std::unique_ptr<feed::follower>> pages;
    s.on_loop([&] {
      const auto open = [&](std::vector<std::string> metrics) {
        return s.pages->follow({{subject::fleet}}, std::move(metrics), [] {});
      };
      for (const char* metric : {"m1", "m2", "m3", "m4"}) {
        auto page = open({"os_cpus", metric});
        REQUIRE(page.has_value());
        pages.push_back(std::move(*page));
      }
      const auto fifth = open({"os_cpus", "m5"});
      REQUIRE(fifth.has_error());
      CHECK(fifth.error().message.find("show 4 metrics already: m1, m2, m3, m4;") != std::string::npos);
      CHECK(open({"os_cpus", "m2"}).has_value());  // one that is asked for already
      CHECK(open({"os_cpus"}).has_value());
      pages.pop_back();
      CHECK(open({"os_cpus", "m5"}).has_value());
      pages.clear();
    });
  }

  TEST_CASE("what the doctor finds is told check by check, and a check that throws is a finding") {
    aggregator a;
    site s({url(a)});
    follow(s, s.key(), "/live?topic=doctor", [&](const std::string& name, const json::value& data) {
      CHECK(name == "doctor");
      CHECK(number(data, "nowMs").value() > 0);
      const auto checks = list(data, "checks");
      REQUIRE(checks.size() == 2);
      CHECK(text(checks[0], "name") == "pods");
      CHECK(text(checks[0], "summary") == "pods that wait");
      CHECK(text(list(checks[0], "findings")[0], "grade") == "warning");
      CHECK(text(list(checks[0], "findings")[0], "sentence") == "one pod waits");
      CHECK(text(list(checks[0], "findings")[0], "remedy") == "look at it");
      CHECK(text(list(checks[1], "findings")[0], "grade") == "unchecked");
      CHECK(text(list(checks[1], "findings")[0], "sentence") == "the check ended with an error: no file");
      return true;
    });
    CHECK(a.asked == 0);
  }

  TEST_CASE("the doctor's checks of pages exist, and leave no decision record") {
    std::vector<std::string_view> names;
    for (const doctor::check& c : checks_of_cluster()) names.push_back(c.name);
    CHECK(names == std::vector<std::string_view>{"certificates", "kubernetes", "pods", "rights", "clocks"});
  }

  TEST_CASE("an answer that is the same as before is sent again only after trouble") {
    aggregator a;
    site s({url(a)});
    std::unique_ptr<feed::follower> page;
    std::atomic<int> woken{0};
    const auto wait_for = [](const std::atomic<int>& count, int least) {
      while (count < least) std::this_thread::sleep_for(5ms);
    };
    const auto said = [&] {
      std::string events;
      s.on_loop([&] { events = page->next(); });
      return events;
    };
    s.on_loop([&] { page = s.pages->follow({{subject::node, "a/b"}}, {}, [&] { ++woken; }).value(); });
    wait_for(woken, 1);
    CHECK(said().find(R"("answer":{"name":"a/b"})") != std::string::npos);
    // A third question means that the second answer has been handled.
    wait_for(a.asked_for_node, 3);
    CHECK(woken == 1);
    CHECK(said().empty());
    a.refuses = true;
    wait_for(woken, 2);
    CHECK(said().find("not allowed to you") != std::string::npos);
    a.refuses = false;
    // The aggregator may have refused more than one question.
    while (said().find(R"("answer":{"name":"a/b"})") == std::string::npos) std::this_thread::sleep_for(5ms);
    s.on_loop([&] { page.reset(); });
  }

  TEST_CASE("an aggregator that refuses, or is away, is told in its own words with the remedy") {
    aggregator a;
    a.refuses = true;
    site s({url(a)});
    const std::string key = s.key();
    int events = 0;
    follow(s, key, "/live?topic=fleet", [&](const std::string&, const json::value& data) {
      if (++events == 1) {
        CHECK(
            text(data, "error")
                .find(R"(User "ann" cannot get path "/api/v1/nodes"; whoever administers the cluster grants)"
                      " that by: kubectl create clusterrolebinding binnacle-reader-ann --clusterrole "
                      "binnacle-ops-reader --user ann") != std::string::npos);
        a.refuses = false;
        return false;
      }
      if (data.as_object().contains("error")) return false;
      CHECK(flag(data, "whole"));
      return true;
    });
    site lonely({"http://127.0.0.1:1"});
    follow(lonely, lonely.key(), "/live?topic=policies",
           [&](const std::string& name, const json::value& data) {
             CHECK(name == "policies");
             CHECK(text(data, "error").find("is binnacle-aggregator running there?") != std::string::npos);
             return true;
           });
  }

  TEST_CASE("a page that shows something else follows it over the stream that it has") {
    aggregator a;
    site s({url(a)});
    const std::string key = s.key();
    auto b = s.browser();
    const std::string other = "/live?stream=mine&topic=fleet&topic=node/a/b";
    CHECK(b.post(other, "").status == 401);
    CHECK(b.post(other, "", s.page(key)).status == 404);
    int fleets = 0, whole = 0;
    bool changed = false, statuses_after = false, is_told = false;
    follow(s, key, "/live?stream=mine&topic=fleet&topic=status",
           [&](const std::string& name, const json::value& data) {
             if (name == "fleet") {
               ++fleets;
               whole += flag(data, "whole") ? 1 : 0;
             }
             statuses_after |= is_told && name == "status";
             is_told |= name == "node" && text(data, "about") == "a/b";
             if (!changed && fleets == 1) {
               CHECK(b.post("/live?stream=mine&topic=what", "", s.page(key)).status == 400);
               CHECK(b.post(other, "", s.page(key)).status == 200);
               changed = true;
             }
             return is_told && fleets >= 4;
           });
    CHECK(whole == 1);  // the fleet went on where it was, and was not sent whole again
    CHECK_FALSE(statuses_after);
    // A topic that a page asks for again is told from its beginning, although nothing has changed.
    int told = 0;
    follow(s, key, "/live?stream=again&topic=node/a/b", [&](const std::string&, const json::value&) {
      CHECK(b.post("/live?stream=again&topic=node/a/b", "", s.page(key)).status == 200);
      return ++told == 3;
    });
    // The stream has ended, so its name is unknown after a moment.
    for (unsigned status = 0; status != 404; std::this_thread::sleep_for(5ms))
      status = b.post("/live?stream=again&topic=fleet", "", s.page(key)).status;
  }

  TEST_CASE("which agent lacks a link to which replica is told") {
    aggregator linked, lacking;
    linked.is_linked = true;
    site s({url(linked), url(lacking), "http://127.0.0.1:1"});
    follow(s, s.key(), "/live?topic=links", [&](const std::string& name, const json::value& data) {
      CHECK(name == "links");
      const auto& replicas = list(data, "replicas");
      REQUIRE(replicas.size() == 3);
      CHECK(integer(replicas[0], "missing", -1) == 0);
      CHECK(integer(replicas[1], "missing", -1) == 1);
      CHECK(to_text(list(replicas[1], "first")) == R"(["<b>a</b>?"])");
      CHECK(text(replicas[2], "error").find("is binnacle-aggregator running there?") != std::string::npos);
      return true;
    });
  }

  TEST_CASE("status and decisions are asked of every replica, and one that is away costs the page nothing") {
    aggregator a;
    site s({url(a), "http://127.0.0.1:1"});
    const std::string key = s.key();
    follow(s, key, "/live?topic=status", [&](const std::string&, const json::value& data) {
      const auto& replicas = list(data, "replicas");
      REQUIRE(replicas.size() == 2);
      CHECK(replicas[0].at("status") == json::parse(status_sample));
      CHECK(!list(replicas[0], "findings").empty());
      CHECK(text(replicas[1], "error").find("cannot reach") != std::string::npos);
      return true;
    });
    follow(s, key, "/live?topic=decisions/web", [&](const std::string&, const json::value& data) {
      CHECK(list(data, "errors").size() == 1);
      REQUIRE(list(data, "decisions").size() == 1);
      CHECK(text(list(data, "decisions")[0], "aggregator") == url(a));
      return true;
    });
    follow(s, key, "/live?topic=decisions/has-many", [&](const std::string&, const json::value& data) {
      CHECK(to_text(data.at("errors")).find("2 older decisions had no room") != std::string::npos);
      return true;
    });
    follow(s, key, "/live?topic=node/a%2Fb&topic=node/none",
           [&](const std::string&, const json::value& data) {
             if (text(data, "about") == "none") {
               CHECK(text(data, "error").find("no agent of that name") != std::string::npos);
               return false;
             }
             CHECK(text(data.at("answer"), "name") == "a/b");
             return true;
           });
  }
}

}  // namespace site_test
