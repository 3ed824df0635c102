#include "aggregator/kube/objects/reflector.hpp"

#include "common/text/json_members.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace reflector_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using kube::reflector;
using step = reflector::step;

/// Gives the machine a whole answer.
void listed(reflector& machine, const http::answer& a, instant now) {
  kube::list_reader body = machine.reader();
  body.feed(a.body);
  machine.listed(a, body, now);
}

/// A reflector, what it told its watcher, and the time.
struct talk final : kube::watcher {
  std::string told;  // "+a/x@1 -a/y synced "
  instant now{1h};
  reflector machine{{"/apis/g/v1/things", "Thing objects", "kubectl apply -f thing.yaml"}, *this, 7};

  void changed(const kube::object_key& key, const boost::json::object& object) override {
    told += fmt::format("+{}@{} ", key.text(), text_in(*object_in(object, "metadata"), "resourceVersion"));
  }
  void gone(const kube::object_key& key) override { told += "-" + key.text() + " "; }
  void synced() override { told += "synced "; }
  std::string news() { return std::exchange(told, {}); }

  /// The target of the next call. Waits on the way are skipped by moving the time.
  reflector::action next() {
    auto a = machine.next(now);
    for (int i = 0; i < 3 && a.what == step::wait; ++i) {
      now += a.within;
      a = machine.next(now);
    }
    return a;
  }
  void list(const std::string& items, const std::string& version, const std::string& more = {}) {
    REQUIRE(next().what == step::list);
    listed(machine,
           {200,
            {},
            fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", version,
                        more, items)},
           now);
  }
  void open() {
    REQUIRE(next().what == step::watch);
    REQUIRE(machine.opened({200, {}, {}}, now));
  }
  bool event(const std::string& type, const std::string& object) {
    return machine.received(fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object), now);
  }
  /// Lists "a/x" and "a/y" at version 10, and starts to watch.
  void settle();
};

std::string thing(const std::string& key, const std::string& version) {
  const auto slash = key.find('/');
  return fmt::format(R"({{"metadata":{{"namespace":"{}","name":"{}","resourceVersion":"{}"}}}})",
                     key.substr(0, slash), key.substr(slash + 1), version);
}
std::string status(int code, const std::string& reason) {
  return fmt::format(R"({{"kind":"Status","code":{},"reason":"{}","message":"because"}})", code, reason);
}

void talk::settle() {
  list(thing("a/x", "3") + "," + thing("a/y", "4"), "10");
  open();
  news();
}

TEST_SUITE("aggregator/kube/objects/reflector") {
  TEST_CASE("it lists from the cache, then watches from the list's version") {
    talk t;
    CHECK_FALSE(t.machine.is_synced());
    auto a = t.machine.next(t.now);
    CHECK(a.what == step::list);
    CHECK(a.target == "/apis/g/v1/things?limit=500&resourceVersion=0");
    listed(t.machine,
           {200, {}, R"({"metadata":{"resourceVersion":"10"},"items":[)" + thing("a/x", "3") + "]}"}, t.now);
    CHECK(t.news() == "+a/x@3 synced ");
    CHECK(t.machine.is_synced());
    a = t.machine.next(t.now);
    CHECK(a.what == step::watch);
    CHECK(a.target.starts_with(
        "/apis/g/v1/things?watch=1&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds="));
    const int seconds = std::stoi(a.target.substr(a.target.rfind('=') + 1));
    CHECK(seconds >= 300);
    CHECK(seconds <= 600);
  }

  TEST_CASE("all is read again, and told again, when the present watch ends") {
    talk t;
    t.settle();
    t.machine.read_again();
    CHECK(t.event("MODIFIED", thing("a/x", "11")));
    CHECK(t.news() == "+a/x@11 ");
    t.machine.ended(t.now + 5min);
    t.list(thing("a/x", "11") + "," + thing("a/y", "4"), "12");
    CHECK(t.news() == "+a/x@11 +a/y@4 synced ");
    CHECK(t.machine.next(t.now).what == step::watch);
    // Asked for again before a watch was answered: no list without a watch before it.
    t.machine.read_again();
    CHECK(t.machine.next(t.now).what == step::watch);
  }

  TEST_CASE("a selector goes with every question, and large objects come by pages from etcd") {
    talk t;
    kube::reflector machine(
        {.path = "/api/v1/pods", .what = "pods", .field_selector = "spec.nodeName!=", .page = 9}, t, 7);
    CHECK(machine.next(t.now).target == "/api/v1/pods?limit=9&fieldSelector=spec.nodeName%21%3D");
    listed(machine, {200, {}, R"({"metadata":{"resourceVersion":"10","continue":"more"},"items":[]})"},
           t.now);
    CHECK(machine.next(t.now).target ==
          "/api/v1/pods?limit=9&fieldSelector=spec.nodeName%21%3D&continue=more");
    listed(machine, {200, {}, R"({"metadata":{"resourceVersion":"10"},"items":[]})"}, t.now);
    const std::string watch = machine.next(t.now).target;
    CHECK(watch.starts_with("/api/v1/pods?watch=1&"));
    CHECK(watch.ends_with("&fieldSelector=spec.nodeName%21%3D"));
  }

  TEST_CASE("events are told, however their bytes are split, and the next watch goes on behind the last") {
    const std::string stream = "{\"type\":\"ADDED\",\"object\":" + thing("b/z", "11") +
                               "}\n{\"type\":\"MODIFIED\",\"object\":" + thing("a/x", "12") +
                               "}\n\n{\"type\":\"DELETED\",\"object\":" + thing("a/y", "13") +
                               "}\n{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Thing\",\"metadata\":{"
                               "\"resourceVersion\":\"20\"}}}\n";
    for (std::size_t piece = 1; piece <= stream.size(); piece += 7) {
      CAPTURE(piece);
      talk t;
      t.settle();
      for (std::size_t at = 0; at < stream.size(); at += piece)
        CHECK(t.machine.received(std::string_view(stream).substr(at, piece), t.now));
      CHECK(t.news() == "+b/z@11 +a/x@12 -a/y ");
      t.machine.ended(t.now + 5min);
      CHECK(t.next().target.find("resourceVersion=20&") != std::string::npos);
    }
  }

  TEST_CASE("pages are one list: reported when all are there, and missing objects are gone then") {
    talk t;
    t.settle();
    CHECK_FALSE(t.event("ERROR", status(410, "Expired")));
    auto a = t.next();
    CHECK(a.target == "/apis/g/v1/things?limit=500");
    listed(t.machine,
           {200,
            {},
            R"({"metadata":{"resourceVersion":"30","continue":"a+b="},"items":[)" + thing("a/x", "3") + "]}"},
           t.now);
    CHECK(t.news() == "");  // known at this version
    a = t.next();
    CHECK(a.target == "/apis/g/v1/things?limit=500&continue=a%2Bb%3D");
    listed(t.machine,
           {200, {}, R"({"metadata":{"resourceVersion":"30"},"items":[)" + thing("c/w", "29") + "]}"}, t.now);
    CHECK(t.news() == "+c/w@29 -a/y synced ");
    CHECK(t.next().target.find("resourceVersion=30&") != std::string::npos);
  }

  TEST_CASE(
      "a version that expired while paging begins the list anew, and one in a watch's status does, too") {
    talk t;
    t.list(thing("a/x", "3"), "10", "more");
    CHECK(t.next().target.find("continue=more") != std::string::npos);
    listed(t.machine, {410, {}, status(410, "Expired")}, t.now);
    CHECK(t.next().target == "/apis/g/v1/things?limit=500");
    listed(t.machine, {200, {}, R"({"metadata":{"resourceVersion":"11"},"items":[]})"}, t.now);
    CHECK(t.news() == "+a/x@3 -a/x synced ");
    t.open();
    CHECK(t.event("BOOKMARK", R"({"metadata":{"resourceVersion":"12"}})"));
    t.machine.ended(t.now + 5min);
    CHECK(t.next().what == step::watch);
    CHECK_FALSE(t.machine.opened({410, {}, status(410, "Gone")}, t.now));
    CHECK(t.machine.next(t.now).target == "/apis/g/v1/things?limit=500");
  }

  TEST_CASE("a server that knows no version is asked again after pauses") {
    talk t;
    t.settle();
    t.event("ERROR", status(410, "Expired"));
    CHECK(t.machine.next(t.now).what == step::list);
    listed(t.machine, {410, {}, status(410, "Expired")}, t.now);
    CHECK(t.machine.next(t.now).what == step::wait);
  }

  TEST_CASE("a server that watches no version is listed again after pauses") {
    talk t;
    t.list("", "10");
    CHECK(t.next().what == step::watch);
    CHECK_FALSE(t.machine.opened({410, {}, status(410, "Expired")}, t.now));
    for (const bool in_its_answer : {true, false, true}) {
      CAPTURE(in_its_answer);
      CHECK(t.machine.next(t.now).target == "/apis/g/v1/things?limit=500");
      listed(t.machine, {200, {}, R"({"metadata":{"resourceVersion":"11"},"items":[]})"}, t.now);
      CHECK(t.machine.next(t.now).what == step::watch);
      if (in_its_answer) {
        CHECK_FALSE(t.machine.opened({410, {}, status(410, "Expired")}, t.now));
      } else {
        CHECK(t.machine.opened({200, {}, {}}, t.now));
        CHECK_FALSE(t.event("ERROR", status(410, "Expired")));
      }
      const auto pause = t.machine.next(t.now);
      CHECK(pause.what == step::wait);
      t.now += pause.within;
    }
  }

  TEST_CASE("a server that lags behind what another said is listed from etcd") {
    talk t;
    t.settle();
    t.machine.broke({errc::disconnected, "gone"}, t.now);
    CHECK(t.next().what == step::watch);
    CHECK_FALSE(t.machine.opened(
        {504,
         {{"retry-after", "1"}},
         R"({"kind":"Status","code":504,"reason":"Timeout","message":"Too large resource version: 10, current: 5"})"},
        t.now));
    CHECK(t.machine.next(t.now).target == "/apis/g/v1/things?limit=500");
  }

  TEST_CASE("an overloaded or absent server costs pauses, not lists") {
    talk t;
    t.settle();
    t.machine.broke({errc::disconnected, "connection refused"}, t.now);
    duration longest{};
    for (int i = 0; i < 20; ++i) {
      auto a = t.machine.next(t.now);
      REQUIRE(a.what == step::wait);
      CHECK(a.within >= 400ms);
      CHECK(a.within <= 30s);
      longest = std::max(longest, a.within);
      t.now += a.within;
      a = t.machine.next(t.now);
      REQUIRE(a.what == step::watch);
      CHECK(a.target.find("resourceVersion=10&") != std::string::npos);
      t.machine.broke({errc::disconnected, "connection refused"}, t.now);
    }
    CHECK(longest > 5s);
    CHECK(t.machine.trouble().find("connection refused") != std::string::npos);
    CHECK(t.news() == "");

    auto a = t.next();
    CHECK_FALSE(t.machine.opened({429, {{"retry-after", "7"}}, "slow down"}, t.now));
    a = t.machine.next(t.now);
    REQUIRE(a.what == step::wait);
    CHECK(a.within >= 7s);
    CHECK(t.next().what == step::watch);
    CHECK(t.machine.opened({200, {}, {}}, t.now));
    CHECK(t.machine.trouble().empty());
  }

  TEST_CASE("a single 429 is waited for without a word, as the first watch of a new collection gets one") {
    const http::answer cold{429, {{"retry-after", "1"}}, "storage is (re)initializing"};
    talk t;
    t.list(thing("a/x", "3"), "10");
    CHECK(t.next().what == step::watch);
    CHECK_FALSE(t.machine.opened(cold, t.now));
    CHECK(t.machine.trouble().empty());
    const auto a = t.machine.next(t.now);
    REQUIRE(a.what == step::wait);
    CHECK(a.within >= 1s);
    t.open();
    t.machine.ended(t.now + 5min);

    // Each that follows an answer is the first again; a second one in a row is trouble.
    CHECK(t.next().what == step::watch);
    CHECK_FALSE(t.machine.opened(cold, t.now));
    CHECK(t.machine.trouble().empty());
    CHECK(t.next().what == step::watch);
    CHECK_FALSE(t.machine.opened(cold, t.now));
    CHECK(t.machine.trouble() ==
          "Thing objects cannot be followed: reading Thing objects: the API server answered 429: storage is "
          "(re)initializing");
    t.open();
    CHECK(t.machine.trouble().empty());
  }

  TEST_CASE("after two quiet minutes the pauses begin small again") {
    talk t;
    t.settle();
    for (int i = 0; i < 12; ++i) {
      t.machine.broke({errc::disconnected, "x"}, t.now);
      t.next();
    }
    t.machine.opened({200, {}, {}}, t.now);
    t.now += 3min;
    t.machine.broke({errc::disconnected, "x"}, t.now);
    CHECK(t.machine.next(t.now).within <= 1600ms);
  }

  TEST_CASE("a silent connection is replaced at once, a watch that ends at once is not") {
    talk t;
    t.settle();
    t.now += 150s;
    t.machine.broke({errc::timeout, "silence"}, t.now);
    CHECK(t.machine.next(t.now).what == step::watch);
    CHECK(t.machine.opened({200, {}, {}}, t.now));
    t.machine.ended(t.now + 100ms);
    CHECK(t.machine.next(t.now).what == step::wait);
    t.open();
    t.event("BOOKMARK", R"({"metadata":{"resourceVersion":"40"}})");
    t.machine.ended(t.now + 100ms);
    CHECK(t.machine.next(t.now).what == step::watch);
  }

  TEST_CASE("a server that swallows every question is reported, however long the watch had stood before") {
    talk t;
    t.settle();
    t.now += 10min;
    t.machine.broke({errc::timeout, "silence"}, t.now);  // the connection, as it seems
    CHECK(t.machine.trouble().empty());
    REQUIRE(t.machine.next(t.now).what == step::watch);
    t.now += 150s;
    t.machine.broke({errc::timeout, "no answer"}, t.now);
    CHECK(t.machine.trouble().find("no answer") != std::string::npos);
    CHECK(t.machine.next(t.now).what == step::wait);
    CHECK(t.machine.size() == 2);
  }

  TEST_CASE("a collection that does not exist is looked for slowly, and says what to do") {
    talk t;
    for (int i = 0; i < 10; ++i) {
      CHECK(t.machine.next(t.now).what == step::list);
      listed(t.machine, {404, {}, "404 page not found"}, t.now);
      CHECK(t.machine.trouble() == "the API server has no Thing objects: kubectl apply -f thing.yaml");
      const auto a = t.machine.next(t.now);
      REQUIRE(a.what == step::wait);
      CHECK(a.within == 5s);
      CHECK(t.machine.is_absent() == (i >= 6));  // after half a minute there is nothing to wait for
      t.now += a.within;
    }
    CHECK(t.news() == "");
    t.list(thing("a/x", "3"), "10");
    CHECK(t.news() == "+a/x@3 synced ");
    CHECK(t.machine.trouble().empty());
    CHECK_FALSE(t.machine.is_absent());
  }

  TEST_CASE("a collection that was removed takes its objects along, but not on the first word") {
    talk t;
    t.settle();
    t.machine.ended(t.now + 5min);
    t.now += 5min;
    REQUIRE(t.next().what == step::watch);
    const instant first = t.now;
    t.machine.opened({404, {}, status(404, "NotFound")}, t.now);
    while (t.now - first < 25s) {
      CHECK(t.news() == "");
      REQUIRE(t.next().what == step::list);
      listed(t.machine, {404, {}, status(404, "NotFound")}, t.now);
    }
    REQUIRE(t.next().what == step::list);
    listed(t.machine, {404, {}, status(404, "NotFound")}, t.now);
    CHECK(t.news() == "-a/x -a/y synced ");
    t.list(thing("a/x", "3"), "50");
    CHECK(t.news() == "+a/x@3 synced ");
  }

  TEST_CASE("two words of no such collection with other trouble in between remove nothing") {
    talk t;
    t.settle();
    t.machine.ended(t.now + 5min);
    t.now += 5min;
    REQUIRE(t.next().what == step::watch);
    t.machine.opened({404, {}, status(404, "NotFound")}, t.now);
    for (int i = 0; i < 10; ++i) {
      REQUIRE(t.next().what == step::list);
      if (i % 2 == 0) {
        t.machine.broke({errc::disconnected, "connection refused"}, t.now);
      } else {
        listed(t.machine, {503, {}, status(503, "ServiceUnavailable")}, t.now);
      }
      t.now += 20s;
    }
    REQUIRE(t.next().what == step::list);
    listed(t.machine, {404, {}, status(404, "NotFound")}, t.now);
    CHECK(t.news() == "");
    CHECK(t.machine.size() == 2);
  }

  TEST_CASE("a refused right is named, and what was read before stays") {
    talk t;
    t.settle();
    t.machine.ended(t.now + 5min);
    t.now += 5min;
    REQUIRE(t.next().what == step::watch);
    t.machine.opened(
        {403, {}, R"({"kind":"Status","code":403,"reason":"Forbidden","message":"things.g is forbidden"})"},
        t.now);
    CHECK(t.machine.trouble().find("things.g is forbidden") != std::string::npos);
    CHECK(t.machine.trouble().find("ClusterRole") != std::string::npos);
    CHECK(t.next().what == step::watch);
    CHECK(t.news() == "");
    CHECK(t.machine.size() == 2);
  }

  TEST_CASE("nonsense ends the watch or the list, with a pause, and loses nothing") {
    for (const std::string nonsense :
         {"<html>", "[1]\n", "{\"type\":\"ADDED\"}\n", "{\"type\":\"ADDED\",\"object\":7}\n"}) {
      CAPTURE(nonsense);
      talk t;
      t.settle();
      CHECK_FALSE(t.machine.received(nonsense, t.now));
      CHECK(t.machine.next(t.now).what == step::wait);
      CHECK(t.machine.next(t.now).target == "/apis/g/v1/things?resourceVersion=10");
      CHECK(t.news() == "");
    }
    for (const std::string nonsense : {"", "<html>", "[]", "{}", R"({"metadata":{"resourceVersion":"1"}})",
                                       R"({"metadata":{},"items":[]})"}) {
      CAPTURE(nonsense);
      talk t;
      REQUIRE(t.next().what == step::list);
      listed(t.machine, {200, {}, nonsense}, t.now);
      CHECK(t.machine.next(t.now).what == step::wait);
      CHECK_FALSE(t.machine.is_synced());
    }
    talk t;
    t.settle();
    CHECK(t.event("ADDED", R"({"metadata":{}})"));
    CHECK(t.event("ADDED", R"({"metadata":{"name":7,"resourceVersion":"1"}})"));
    CHECK(t.event("SOMETHING", "{}"));
    CHECK(t.news() == "");
  }

  TEST_CASE("a long list is compared in parts, and the watch begins behind the last part") {
    constexpr std::size_t many = 3 * reflector::compared_at_once + 200;
    talk t;
    std::string items;
    for (std::size_t i = 0; i < many; ++i)
      items += (i == 0 ? "" : ",") + thing(fmt::format("a/x{:04}", i), "3");
    std::size_t gone = 0, most = 0;
    std::string last;
    const auto look = [&] {
      last = t.news();
      const auto now_gone = static_cast<std::size_t>(std::ranges::count(last, '-'));
      gone += now_gone;
      most = std::max(most, now_gone);
    };
    const auto finish = [&] {
      look();
      int parts = 1;
      for (auto a = t.machine.next(t.now); a.what == step::wait; a = t.machine.next(t.now)) {
        CHECK(a.within == duration::zero());
        look();
        ++parts;
      }
      CHECK(parts == 4);
      CHECK(last.ends_with("synced "));
    };
    t.list(items, "10");
    CHECK_FALSE(t.machine.is_synced());
    finish();
    CHECK(gone == 0);
    CHECK(t.machine.version() == "10");
    REQUIRE(t.machine.opened({200, {}, {}}, t.now));
    CHECK(t.event("ADDED", thing("a/y", "11")));
    CHECK_FALSE(t.event("ERROR", status(410, "Expired")));
    t.news();
    t.list(thing("a/x0007", "3") + "," + thing("a/z", "12"), "13");
    CHECK(t.machine.version() == "11");
    finish();
    CHECK_MESSAGE(gone == many, "all but a/x0007, and a/y");
    CHECK(most <= reflector::compared_at_once);
    CHECK(t.machine.size() == 2);
    CHECK(t.machine.version() == "13");
  }

  TEST_CASE(
      "a page that is too large, or takes too long, is asked for in halves, and grows again list by list") {
    talk t;
    kube::reflector pods(
        {.path = "/api/v1/pods", .what = "pods", .field_selector = "spec.nodeName!=", .page = 8}, t, 7);
    const auto page = [&] {
      auto a = pods.next(t.now);
      if (a.what == step::wait) {
        t.now += a.within;
        a = pods.next(t.now);
      }
      REQUIRE(a.what == step::list);
      return a.target.substr(a.target.find("limit="), 7);
    };
    CHECK(page() == "limit=8");
    pods.broke({errc::overloaded, "the answer is larger than what is taken here"}, t.now);
    CHECK(page() == "limit=4");
    {
      kube::list_reader body = pods.reader();
      body.feed(R"({"items":[)" + thing("a/z", "11") + ",");
    }
    pods.broke({errc::timeout, "no answer"}, t.now);
    CHECK(page() == "limit=2");
    pods.broke({errc::disconnected, "connection reset"}, t.now);
    CHECK(page() == "limit=2");
    pods.broke({errc::timeout, "no connection"}, t.now);
    CHECK_MESSAGE(page() == "limit=2", "nothing came, so the page is not to blame");
    for (int i = 0; i < 3; ++i) {
      pods.broke({errc::overloaded, "too large"}, t.now);
      CHECK(page() == "limit=1");
    }
    listed(pods, {200, {}, R"({"metadata":{"resourceVersion":"10","continue":"more"},"items":[]})"}, t.now);
    CHECK(page() == "limit=1");
    listed(pods, {410, {}, status(410, "Expired")}, t.now);
    CHECK_MESSAGE(page() == "limit=2", "the list took longer than the server remembers");
    pods.broke({errc::overloaded, "too large"}, t.now);
    CHECK(page() == "limit=1");
    listed(pods, {200, {}, R"({"metadata":{"resourceVersion":"10"},"items":[]})"}, t.now);
    CHECK(pods.next(t.now).what == step::watch);
    pods.read_again();
    REQUIRE(pods.opened({200, {}, {}}, t.now));
    pods.ended(t.now + 5min);
    CHECK(page() == "limit=2");
  }

  TEST_CASE("items of a list that breaks are told, and an object that is missing from a whole one is gone") {
    talk t;
    t.list(thing("a/x", "3") + "," + thing("a/y", "4"), "10");
    t.news();
    t.machine.read_again();
    t.open();
    t.machine.ended(t.now + 5min);
    REQUIRE(t.next().what == step::list);
    {
      kube::list_reader body = t.machine.reader();
      body.feed(R"({"items":[)" + thing("a/z", "11") + ",");
      CHECK(t.news() == "+a/z@11 ");
      t.machine.broke({errc::disconnected, "connection reset"}, t.now);
    }
    SUBCASE("at once") {}
    SUBCASE("after a page that is no list") {
      REQUIRE(t.next().what == step::list);
      listed(t.machine, {200, {}, R"({"items":[)" + thing("a/y", "4") + "]}"}, t.now);
    }
    SUBCASE("after a page that is no JSON") {
      REQUIRE(t.next().what == step::list);
      listed(t.machine, {200, {}, R"({"items":[)" + thing("a/y", "4")}, t.now);
    }
    t.news();
    t.list(thing("a/x", "3") + "," + thing("a/z", "11"), "12");
    CHECK(t.news().ends_with("-a/y synced "));
  }

  TEST_CASE("an object beyond every bound ends the watch") {
    talk t;
    t.settle();
    const std::string piece(1 << 20, 'x');
    bool go_on = t.machine.received("{\"type\":\"ADDED\",\"object\":{\"a\":\"", t.now);
    int mebibytes = 0;
    for (; go_on && mebibytes < 20; ++mebibytes) go_on = t.machine.received(piece, t.now);
    CHECK_FALSE(go_on);
    CHECK(mebibytes <= 13);
  }

  TEST_CASE("what is left out of an object with too many annotations is counted, and the object named") {
    const auto large = [](const std::string& key, int annotations) {
      std::string members;
      for (int i = 0; i < annotations; ++i) members += fmt::format("{}\"a{}\":\"\"", i == 0 ? "" : ",", i);
      std::string out = thing(key, "4");
      return out.insert(out.find("\"name\""), "\"annotations\":{" + members + "},");
    };
    talk t;
    t.list(thing("a/x", "3") + "," + large("a/y", 520) + "," + large("a/z", 512), "10");
    CHECK(t.news() == "+a/x@3 +a/y@4 +a/z@4 synced ");
    auto left_out = t.machine.take_left_out();
    CHECK(left_out.members == 8);
    CHECK(left_out.last == "Thing objects a/y");
    CHECK(t.machine.take_left_out().members == 0);
    t.open();
    CHECK(t.event("ADDED", large("b/z", 600)));
    CHECK(t.event("ADDED", thing("b/y", "5")));
    left_out = t.machine.take_left_out();
    CHECK(left_out.members == 88);
    CHECK(left_out.last == "Thing objects b/z");
  }

  TEST_CASE("an empty list may be null, as Go writes it") {
    talk t;
    REQUIRE(t.next().what == step::list);
    listed(t.machine, {200, {}, R"({"metadata":{"resourceVersion":"1"},"items":null})"}, t.now);
    CHECK(t.news() == "synced ");
  }
}

}  // namespace

}  // namespace reflector_test
