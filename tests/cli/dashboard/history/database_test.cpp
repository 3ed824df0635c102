// The page's questions to a database. A server plays the database and gives the answers that a real one
// might.
#include "cli/dashboard/history/database.hpp"

#include "common/async/timers.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <optional>

namespace history_database_test {

using namespace binnacle;
using namespace binnacle::cli::dashboard::history;
using namespace std::chrono_literals;

/// A database that always answers `say`.
struct server {
  std::atomic<int> asked{0};
  std::function<http::response(const http::request&)> say;
  support::served face{routes()};

  explicit server(std::function<http::response(const http::request&)> s) : say(std::move(s)) {}
  http::router routes() {
    http::router r;
    r.add_prefix("/", [this](const http::request& q, std::string_view) {
      ++asked;
      return say(q);
    });
    return r;
  }
  std::string url(std::string_view path = "") const {
    return fmt::format("http://127.0.0.1:{}{}", face.port(), path);
  }
};

question about(const char* node) {
  return parse_question({{"span", "1h"}, {"node", node}, {"metric", "os_load1"}}).value();
}

/// Asks the same question `count` times at once; the results are in the order of the answers.
std::vector<result<std::string>> ask(const settings& s, std::size_t count = 1) {
  std::vector<result<std::string>> got;
  const auto work = [&](async::loop& on) -> async::task<void> {
    auto to = database::open(on, s, logger("test", log_level::off)).value();
    async::event answered(on);
    for (std::size_t i = 0; i < count; ++i) {
      to->ask(about("a"), [&](result<std::string> told) {
        got.push_back(std::move(told));
        answered.notify();
      });
    }
    while (got.size() < count) co_await answered.wait();
  };
  support::run(work, 120s);
  return got;
}

std::string why(const settings& s) {
  const auto got = ask(s).front();
  return got.has_error() ? got.error().message : std::string();
}

http::response nothing_known() {
  return http::response::json(R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
}

TEST_SUITE("cli/dashboard/history/database") {
  TEST_CASE("the question is a range query below the given path") {
    std::string path, query;
    server s([&](const http::request& q) {
      path = fmt::format("{}", fmt::join(q.path, "/"));
      query = *q.parameter("query");
      return nothing_known();
    });
    const auto got = ask({s.url("/prom"), {}, {"cluster=blue"}}).front();
    REQUIRE(got.has_value());
    CHECK(got->find(R"("lines":[])") != std::string::npos);
    CHECK(path == "prom/api/v1/query_range");
    CHECK(query.find(R"({__name__="os_load1",cluster="blue",node="a"})") != std::string::npos);
  }

  TEST_CASE("a database that is away, refuses or answers rubbish is one sentence") {
    CHECK(why({"http://127.0.0.1:1", {}, {}}).find("cannot ask http://127.0.0.1:1 for history") == 0);
    server no([](const http::request&) { return http::response::failure(403, "not you"); });
    CHECK(why({no.url(), {}, {}}).find("--history-token") != std::string::npos);
    server page([](const http::request&) {
      http::response r;
      r.body = {"<html>Welcome to nginx!</html>"};
      return r;
    });
    CHECK(why({page.url(), {}, {}}).find("Prometheus' HTTP API") != std::string::npos);
    server flood([](const http::request&) {
      return http::response::json(std::string(database::most_bytes + 1, ' '));
    });
    CHECK(why({flood.url(), {}, {}}).find("cannot ask") == 0);
  }

  TEST_CASE("no more questions are asked at a time than a database of pages' own should get") {
    server s([](const http::request&) { return nothing_known(); });
    const auto got = ask({s.url(), {}, {}}, database::most_at_once + 3);
    std::size_t refused = 0;
    for (const auto& one : got) refused += one.has_error() && one.error().code == errc::overloaded ? 1 : 0;
    CHECK(refused == 3);
    CHECK(s.asked == static_cast<int>(database::most_at_once));
  }

  TEST_CASE("what is given must go together, and labels are KEY=VALUE") {
    const auto wrong = [](const settings& s) {
      const auto checked = check(s);
      return checked.has_error() ? checked.error().message : std::string();
    };
    CHECK(wrong({}).empty());
    CHECK(wrong({"https://prom", {{}, "me", "file"}, {"cluster=blue", "a="}}).empty());
    CHECK(wrong({"", {{}, "", "file"}, {}}).find("--history-token is given without --history") !=
          std::string::npos);
    CHECK(wrong({"http://prom", {{}, "", "file"}, {}}).find("use https") != std::string::npos);
    CHECK(wrong({"prom:9090", {}, {}}).find("--history") == 0);
    for (const char* text : {"", "a", "=b", "1a=b", "a b=c", "a\"=b", "node=x"}) {
      CAPTURE(text);
      CHECK(wrong({"https://prom", {}, {text}}).find("--history-label") == 0);
    }
  }

  TEST_CASE("a token's file that cannot be read is named, and nothing is asked") {
    support::temp_folder folder;
    settings s{"https://127.0.0.1:1", {{}, "", folder / "none"}, {}};
    CHECK(why(s).find("--history-token") == 0);
  }
}

}  // namespace history_database_test
