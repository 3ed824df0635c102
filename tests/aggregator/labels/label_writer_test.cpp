#include "aggregator/labels/label_writer.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace label_writer_test {

namespace {

using namespace binnacle;
using namespace binnacle::labels;
using namespace std::chrono_literals;
using action = policy::label_wish::action;

/// A writer, the nodes as the API server has them, and the time.
struct talk {
  kube::node_objects nodes;
  label_writer w{nodes, {}, 7};
  instant now{1h};
  int version = 0;
  std::string last;  // the node of the last patch

  talk() {
    w.set_leads(true, now);
    w.claim({{"hot", "p"}, {}}, now);
  }
  void node(const std::string& name, const std::string& labels = "", const std::string& ours = "") {
    seen(name, labels, ours);
    for (const std::string& changed : nodes.take()) w.look_at(changed, now);
  }
  void gone(const std::string& name) {
    nodes.gone({"", name});
    for (const std::string& changed : nodes.take()) w.look_at(changed, now);
  }
  void seen(const std::string& name, const std::string& labels, const std::string& ours) {
    nodes.changed(
        {"", name},
        boost::json::parse(
            fmt::format(
                R"({{"metadata":{{"name":"{}","uid":"u","resourceVersion":"{}","labels":{{{}}},"annotations":{{"binnacle/labels":"{}"}}}}}})",
                name, ++version, labels, ours))
            .as_object());
  }
  void hot(const std::string& name, bool on = true) {
    w.wish(name, {{"hot", {on ? action::set : action::remove, "violating"}}}, now);
  }

  /// "PATCH n1 {…}" without the version, or nothing.
  std::string next() {
    const auto patch = w.next(now);
    if (!patch) return "";
    last = patch->node;
    const auto labels = boost::json::parse(patch->call.body).at("metadata").as_object();
    const auto* l = labels.if_contains("labels");
    return patch->call.target.substr(patch->call.target.rfind('/') + 1) + " " +
           (l ? boost::json::serialize(*l) : "{}");
  }
  /// The API server accepted the last patch, and the node now has these labels.
  void done(const std::string& labels, const std::string& ours) { done(last, labels, ours); }
  void done(const std::string& node, const std::string& labels, const std::string& ours) {
    seen(node, labels, ours);
    w.answered(node, {200, {}, "{}"}, now);
    for (const std::string& changed : nodes.take()) w.look_at(changed, now);
  }
  void refused(unsigned status, const std::string& header = "") { refused(last, status, header); }
  void refused(const std::string& node, unsigned status, const std::string& header = "") {
    http::answer a{status, {}, R"({"kind":"Status","message":"because"})"};
    if (!header.empty()) a.headers.emplace_back("retry-after", header);
    w.answered(node, a, now);
  }
};

const std::string on = R"({"hot":"violating"})";
const std::string off = R"({"hot":null})";
const std::string is_on = R"("hot":"violating")";

TEST_SUITE("aggregator/labels/patch_pace") {
  /// Sends patches one after the other, each as soon as the pace permits. Each is answered after `answer`.
  const auto patch = [](patch_pace& p, instant& now, int times, duration answer) {
    for (int i = 0; i < times; ++i) {
      now = std::max(now, p.next());
      const bool held = p.sent(now);
      now += answer;
      p.taken(answer, held, now);
    }
  };

  TEST_CASE("quick answers to patches that had to wait raise the pace, up to a bound") {
    patch_pace p;
    instant now(1h);
    patch(p, now, 1'000, 2ms);
    CHECK(p.per_second() == patch_pace::most);
    const instant from = now;
    patch(p, now, 200, 2ms);
    CHECK(now - from <= 1001ms);
  }

  TEST_CASE("patches that need not wait leave the pace as it is") {
    patch_pace p;
    instant now(1h);
    for (int i = 0; i < 500; ++i, now += 1s) patch(p, now, 1, 2ms);
    CHECK(p.per_second() == patch_pace::least);
  }

  TEST_CASE("slow answers take a quarter each, a refusal all that was added; the least is left") {
    patch_pace p;
    instant now(1h);
    patch(p, now, 1'000, 2ms);
    patch(p, now, 1, 1100ms);
    CHECK(p.per_second() == patch_pace::most * 0.75);
    patch(p, now, 1, 300ms);  // neither quick nor slow
    CHECK(p.per_second() == patch_pace::most * 0.75);
    p.refused(now);
    CHECK(p.per_second() == patch_pace::least);
    patch(p, now, 10, 1100ms);
    CHECK(p.per_second() == patch_pace::least);
  }
}

TEST_SUITE("aggregator/labels/label_writer") {
  TEST_CASE("nothing is written before it is known what belongs to policies") {
    talk t;
    label_writer fresh(t.nodes, {}, 1);
    fresh.set_leads(true, t.now);
    t.node("n1", is_on, "hot");
    fresh.look_at("n1", t.now);
    fresh.wish("n1", {{"hot", {action::remove, ""}}}, t.now);
    CHECK_FALSE(fresh.next(t.now).has_value());
    fresh.claim({{"hot"}, {}}, t.now);
    CHECK(fresh.next(t.now).has_value());
  }

  TEST_CASE("nothing is written of nodes that have no Node object") {
    talk t;
    t.hot("n1");
    CHECK(t.next() == "");
    t.node("n1");
    CHECK_MESSAGE(t.next() == "", "that wish was of another node of this name, which had just gone");
    t.hot("n1");
    CHECK(t.next() == "n1 " + on);
  }

  TEST_CASE("one patch of a node at a time, one a second, and of what came between only the end") {
    talk t;
    t.node("n1");
    t.node("n2");
    t.hot("n1");
    CHECK(t.next() == "n1 " + on);
    t.hot("n1", false);
    t.now += 1s;
    CHECK_MESSAGE(t.next() == "", "its patch is under way");
    t.hot("n1");
    t.done(is_on, "hot");
    CHECK_MESSAGE(t.next() == "", "n1 is as it should be");
    t.hot("n2");
    CHECK(t.next() == "n2 " + on);
    t.hot("n2", false);
    t.done(is_on, "hot");
    CHECK_MESSAGE(t.next() == "", "n2 was patched this second");
    CHECK(*t.w.next_wake() == t.now + 1s);
    t.hot("n1", false);
    t.hot("n1", true);
    t.now += 1s;
    CHECK(t.next() == "n2 " + off);
    t.done("", "");
    CHECK_MESSAGE(t.next() == "", "n1 is as it should be");
    t.now += 1h;
    CHECK(t.next() == "");
    CHECK(t.w.stats().written == 3);
  }

  TEST_CASE("a bound for all nodes together") {
    talk t;
    for (int i = 0; i < 200; ++i) {
      t.node(fmt::format("n{:03}", i));
      t.hot(fmt::format("n{:03}", i));
    }
    const auto patches_now = [&t] {
      int patches = 0;
      for (; t.next() != ""; ++patches) t.done(is_on, "hot");
      return patches;
    };
    CHECK(patches_now() == 40);
    const instant next = *t.w.next_wake();
    CHECK(next > t.now);
    CHECK(next <= t.now + 50ms);
    t.now += 1s;
    const int then = patches_now();  // more than before: the last answers came quickly
    CHECK(then > 20);
    CHECK(then < 25);
    for (int s = 0; s < 10; ++s) {
      t.now += 1s;
      patches_now();
    }
    CHECK(t.w.stats().written == 200);
  }

  /// How many patches are answered within `span`. Each is answered after `answer`, in the order in which they
  /// were made.
  const auto patches_within = [](talk& t, duration span, duration answer) {
    int patches = 0;
    std::deque<std::pair<instant, std::string>> under_way;
    for (const instant end = t.now + span; t.now < end;) {
      if (t.next() != "") {
        under_way.emplace_back(t.now + answer, t.last);
        CHECK(under_way.size() <= label_writer::most_under_way);
        continue;
      }
      const instant wake = std::max(t.now + 100us, t.w.next_wake().value_or(end));
      t.now = under_way.empty() ? wake : std::min(wake, under_way.front().first);
      for (; !under_way.empty() && under_way.front().first <= t.now; under_way.pop_front(), ++patches)
        t.done(under_way.front().second, is_on, "hot");
    }
    return patches;
  };
  const auto heat = [](talk& t, int nodes) {
    for (int i = 0; i < nodes; ++i) {
      t.node(fmt::format("n{:04}", i));
      t.hot(fmt::format("n{:04}", i));
    }
  };

  TEST_CASE("5,000 labels are written within a minute where the API server answers quickly") {
    talk t;
    heat(t, 5'000);
    CHECK(patches_within(t, 60s, 5ms) == 5'000);
  }

  TEST_CASE("5,000 labels are written within a minute where each answer takes 80 ms") {
    talk t;
    heat(t, 5'000);
    CHECK(patches_within(t, 60s, 80ms) == 5'000);
  }

  TEST_CASE("where answers take longer the number that are under way is the pace") {
    talk t;
    heat(t, 2'000);
    CHECK(patches_within(t, 60s, 250ms) > 1'800);  // 8 in a quarter of a second: 32 a second
  }

  TEST_CASE("patches that are refused together make one pause, as long as the server says at the longest") {
    talk t;
    heat(t, 10);
    std::vector<std::string> nodes;
    for (std::size_t i = 0; i < label_writer::most_under_way; ++i) {
      REQUIRE(t.next() != "");
      nodes.push_back(t.last);
    }
    CHECK_MESSAGE(t.next() == "", "no more are made");
    CHECK_FALSE(t.w.next_wake().has_value());
    t.now += 10ms;
    for (std::size_t i = 0; i + 2 < nodes.size(); ++i) t.refused(nodes[i], 429, i == 3 ? "5" : "1");
    t.done(nodes[6], is_on, "hot");
    CHECK_MESSAGE(t.w.trouble() != "", "it was sent before the pause");
    t.w.broke(nodes[7], {errc::timeout, "silence"}, t.now);
    t.now += 4900ms;
    CHECK(t.next() == "");
    t.now += 200ms;
    CHECK_MESSAGE(t.next() != "", "eight refusals are not eight times longer and longer");
    t.done(is_on, "hot");
    CHECK(t.w.trouble().empty());
  }

  TEST_CASE("a look at very many nodes is made in parts") {
    talk t;
    for (int i = 0; i < 1000; ++i) t.node(fmt::format("n{:03}", i));
    t.hot("n999");
    int looks = 1;
    while (t.next() == "" && looks < 10) {
      REQUIRE(t.w.next_wake().has_value());
      CHECK(*t.w.next_wake() <= t.now);
      ++looks;
    }
    CHECK(looks == 4);
    CHECK(t.last == "n999");
  }

  TEST_CASE(
      "without the Lease it stops at once, in the middle of the queue, and looks at all nodes when it is "
      "back") {
    talk t;
    for (const char* n : {"n1", "n2", "n3"}) {
      t.node(n);
      t.hot(n);
    }
    CHECK(t.next() == "n1 " + on);
    t.w.set_leads(false, t.now);
    t.done(is_on, "hot");
    t.now += 1h;
    CHECK(t.next() == "");
    t.node("n2", is_on, "hot");  // the other one wrote
    t.w.set_leads(true, t.now);
    CHECK(t.next() == "n3 " + on);
    t.done(is_on, "hot");
    CHECK(t.next() == "");
  }

  TEST_CASE("404: the node is gone and is forgotten; one that is made anew begins anew") {
    talk t;
    t.node("n1");
    t.hot("n1");
    CHECK(t.next() == "n1 " + on);
    t.refused(404);
    t.now += 1h;
    CHECK(t.next() == "");
    t.gone("n1");
    CHECK_FALSE(t.w.next_wake().has_value());
    t.node("n1");
    CHECK_MESSAGE(t.next() == "", "what was wished for the old one does not count");
    t.hot("n1");
    CHECK(t.next() == "n1 " + on);
    SUBCASE("it goes while its patch is under way") {
      t.gone("n1");
      t.refused(404);
      CHECK(t.next() == "");
    }
    SUBCASE("it is made again while its patch is under way") {
      t.gone("n1");
      t.node("n1");
      t.hot("n1");
      t.now += 1s;
      CHECK(t.next() == "");
      t.refused(404);
      CHECK(t.next() == "n1 " + on);
    }
  }

  TEST_CASE("409: somebody changed the node meanwhile; what there is then decides") {
    talk t;
    t.node("n1");
    t.hot("n1");
    t.next();
    t.refused(409);
    CHECK(t.w.trouble().empty());
    t.node("n1", R"("hot":"mine")");
    t.now += 1s;
    CHECK(t.next() == "");
    CHECK(t.w.foreign().at("hot").contains("n1"));
    t.node("n1");
    CHECK(t.next() == "n1 " + on);
    CHECK(t.w.foreign().empty());
  }

  TEST_CASE("whose keys are somebody else's is told once, with the Lease or without") {
    talk t;
    const std::map<std::string, policy::taken_keys> taken{{"n1", {"hot"}}}, free{{"n1", {}}};
    bool leads = true;
    SUBCASE("with") {}
    SUBCASE("without") { leads = false; }
    t.w.set_leads(leads, t.now);
    t.node("n1", R"("hot":"mine")");
    t.hot("n1", false);
    CHECK(t.next() == "");
    CHECK(t.w.take_taken() == taken);
    CHECK(t.w.foreign().empty());
    t.w.wish("n1", {{"hot", {action::blocked, ""}}}, t.now);
    CHECK(t.next() == "");
    CHECK(t.w.take_taken().empty());
    CHECK(t.w.foreign().empty() == !leads);
    t.node("n1");
    CHECK_MESSAGE(t.next() == "", "whether the slot is still free, the engine says");
    CHECK(t.w.take_taken() == free);
    CHECK(t.w.foreign().empty());
    t.node("n1", R"("hot":"mine")");
    t.next();
    CHECK(t.w.take_taken() == taken);
    t.gone("n1");
    CHECK(t.w.take_taken().empty());
  }

  TEST_CASE("429: nobody is patched before the time that the server says") {
    talk t;
    t.node("n1");
    t.node("n2");
    t.hot("n1");
    t.hot("n2");
    t.next();
    t.refused(429, "30");
    CHECK(t.w.trouble() ==
          "node labels cannot be written: labelling the node n1: the API server answered 429: because");
    t.now += 30s;
    CHECK(t.next() == "");
    CHECK(*t.w.next_wake() <= t.now + 2s);
    t.now = *t.w.next_wake();
    CHECK(t.next() == "n2 " + on);
    t.done(is_on, "hot");
    CHECK(t.w.trouble().empty());
    CHECK(t.next() == "n1 " + on);
  }

  TEST_CASE(
      "an API server that is away is asked again with growing pauses, and the end of it all is written") {
    talk t;
    t.node("n1");
    t.hot("n1");
    duration longest{};
    for (int i = 0; i < 12; ++i) {
      REQUIRE(t.next() != "");
      t.w.broke(t.last, {errc::disconnected, "nobody answers"}, t.now);
      CHECK(t.w.trouble() == "node labels cannot be written: nobody answers");
      longest = std::max(longest, *t.w.next_wake() - t.now);
      t.now = *t.w.next_wake();
    }
    CHECK(longest > 3s);
    CHECK(longest <= 30s);
    t.hot("n1", false);
    CHECK(t.next() == "");
    CHECK(t.w.stats().broken == 12);
  }

  TEST_CASE("the pause ends when the API server is seen to be back, but not one that the server asked for") {
    talk t;
    t.node("n1");
    t.hot("n1");
    for (int i = 0; i < 8; ++i) {
      t.now = *t.w.next_wake();
      REQUIRE(t.next() != "");
      t.w.broke(t.last, {errc::disconnected, "nobody answers"}, t.now);
    }
    REQUIRE(*t.w.next_wake() > t.now + 1s);
    t.w.reachable(t.now);
    CHECK(t.next() == "");  // n1 was patched this second
    t.now += 1s;
    CHECK(t.next() == "n1 " + on);
    t.refused(429, "60");
    t.w.reachable(t.now);
    t.now += 59s;
    CHECK(t.next() == "");
  }

  TEST_CASE("what the server never takes from one node holds up no other") {
    talk t;
    t.node("n1");
    t.node("n2");
    t.hot("n1");
    t.hot("n2");
    t.next();
    t.refused(422);
    CHECK(t.w.trouble() == "labelling the node n1: the API server answered 422: because");
    CHECK(t.next() == "n2 " + on);
    t.done(is_on, "hot");
    t.now += 4min;
    CHECK(t.next() == "");
    t.now += 1min;
    CHECK(t.next() == "n1 " + on);
  }

  TEST_CASE("403: the right is missing, and is asked for every half minute") {
    talk t;
    t.node("n1");
    t.hot("n1");
    t.next();
    t.refused(403);
    CHECK(t.w.trouble().ends_with("grant it with a ClusterRole (charts/binnacle)"));
    t.now += 29s;
    CHECK(t.next() == "");
    t.now += 3s;
    CHECK(t.next() == "n1 " + on);
  }

  TEST_CASE("pods are woken without the Lease, too, and by that label alone") {
    talk t;
    t.w.set_leads(false, t.now);
    t.node("n1", R"("zone":"a")");
    t.hot("n1");
    t.w.wake("n1", t.now);
    t.w.wake("nobody", t.now);
    CHECK(t.next() == R"(n1 {"binnacle/wake":"1"})");
    t.done(R"("zone":"a","binnacle/wake":"1")", "");
    CHECK(t.next() == "");
    CHECK(t.w.stats().woken == 1);
    t.w.set_leads(true, t.now);
    t.now += 1s;
    t.w.wake("n1", t.now);
    CHECK_MESSAGE(t.next() == "n1 " + on, "this label wakes them as well");
  }

  TEST_CASE("a wake that was not written is not forgotten") {
    talk t;
    t.node("n1");
    t.w.wake("n1", t.now);
    CHECK(t.next() == R"(n1 {"binnacle/wake":"1"})");
    SUBCASE("refused") { t.refused(503); }
    SUBCASE("not answered") { t.w.broke(t.last, {errc::timeout, "silence"}, t.now); }
    t.now = *t.w.next_wake();
    CHECK(t.next() == R"(n1 {"binnacle/wake":"1"})");
  }
}

}  // namespace

}  // namespace label_writer_test
