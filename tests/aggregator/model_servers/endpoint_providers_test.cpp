#include "aggregator/model_servers/endpoint_providers.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace endpoint_providers_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace std::chrono_literals;

namespace {

http::answer says(unsigned status, std::string body) {
  http::answer out;
  out.status = status;
  out.body = std::move(body);
  return out;
}
http::answer systems() { return says(200, R"({"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]})"); }
http::answer model(const std::string& version = "1") {
  return says(
      200,
      fmt::format(
          R"({{"PowerConsumptionModel":{{"Name":"m","Url":"http://h:1","Type":"V2InferenceProtocol","Version":"{}"}}}})",
          version));
}
endpoint_provider at(const std::string& host, const std::string& path = "", const std::string& secret = "") {
  endpoint_provider out = *redfish_provider("https://" + host + path);
  out.secret = secret;
  return out;
}
bool any(const endpoint_provider&) { return true; }

struct world {
  endpoint_providers it{7};
  instant now = from_ns(1'000'000'000'000);

  /// The endpoint that is known of the provider; "" if none is.
  std::string known(const endpoint_provider& p) {
    const served_model* m = it.want(p, now);
    return m == nullptr ? "" : m->text();
  }
  /// The provider is named for that long, and each conversation ends with `got`, the answer for the model.
  /// Returns how many there were.
  int conversations(duration span, const endpoint_provider& p, const result<http::answer>& got) {
    int count = 0;
    for (const instant end = now + span; now < end; now += 1s) {
      (void)it.want(p, now);
      for (const auto& c : it.next(now, any)) {
        ++count;
        if (const auto then = it.answered(c, systems(), now)) (void)it.answered(*then, got, now);
      }
    }
    return count;
  }
  std::uint64_t counted(provider_outcome o) const { return it.counted()[static_cast<std::size_t>(o)]; }
};

}  // namespace

TEST_SUITE("aggregator/model_servers/endpoint_providers") {
  TEST_CASE("a provider is asked for its systems and then for the model, and again after 15 minutes") {
    world w;
    const auto p = at("bmc", "/pre");
    CHECK(w.it.next(w.now, any).empty());
    CHECK(w.known(p).empty());
    const auto calls = w.it.next(w.now, any);
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].target() == "/pre/redfish/v1/Systems");
    CHECK_MESSAGE(w.it.next(w.now, any).empty(), "it is being asked");
    const auto then = w.it.answered(calls[0], systems(), w.now);
    REQUIRE(then);
    CHECK(then->target() == "/pre/redfish/v1/Systems/1/MachineLearningModel");
    CHECK_MESSAGE(w.it.next(w.now, any).empty(), "one conversation at a time");
    CHECK_FALSE(w.it.answered(*then, model(), w.now));
    CHECK(w.known(p) == "http://h:1/v2/models/m/versions/1/infer");
    CHECK(w.it.fault_of(p).what.empty());
    CHECK(w.counted(provider_outcome::answered) == 2);
    CHECK(w.conversations(15min - 1s, p, model("2")) == 0);
    CHECK(w.conversations(2s, p, model("2")) == 1);
    CHECK_MESSAGE(w.known(p) == "http://h:1/v2/models/m/versions/2/infer", "another answer counts at once");
  }

  TEST_CASE("while a provider is ill, its last answer counts for an hour") {
    world w;
    const auto p = at("bmc");
    w.conversations(1s, p, model());
    w.conversations(15min, p, says(500, ""));
    REQUIRE_FALSE(w.known(p).empty());
    CHECK(w.conversations(44min, p, says(500, "")) > 5);
    CHECK_FALSE(w.known(p).empty());
    CHECK(w.it.fault_of(p).what ==
          "its powerConsumptionEndpointProvider: it answered 500 for "
          "/redfish/v1/Systems/ID/MachineLearningModel");
    w.conversations(2min, p, says(500, ""));
    CHECK(w.known(p).empty());
    w.conversations(6min, p, model("3"));
    CHECK(w.known(p).ends_with("/versions/3/infer"));
    CHECK(w.it.fault_of(p).what.empty());
  }

  TEST_CASE("the pauses after failures grow to five minutes, and are 15 after 404") {
    world w;
    const auto p = at("bmc");
    const int first = w.conversations(60s, p, says(500, ""));
    CHECK(first >= 3);
    CHECK(first <= 12);
    w.conversations(30min, p, says(500, ""));
    // From 5 seconds to 5 minutes, drawn evenly.
    const int later = w.conversations(100min, p, says(500, ""));
    CHECK(later >= 20);
    CHECK(later <= 120);
    CHECK(w.counted(provider_outcome::refused) > 0);
    world other;
    CHECK(other.conversations(15min, p, says(404, "")) == 1);
    CHECK(other.conversations(11s, p, says(404, "")) == 1);
    CHECK(other.conversations(15min - 1s, p, says(404, "")) == 0);
  }

  TEST_CASE("what broke a connection is told of one node, and the rest of the sentence is the same for all") {
    world w;
    const auto p = at("bmc");
    (void)w.it.want(p, w.now);
    const auto calls = w.it.next(w.now, any);
    REQUIRE(calls.size() == 1);
    const error broken{errc::timeout, "bmc:443 did not answer"};
    CHECK_FALSE(w.it.answered(calls[0], broken, w.now));
    CHECK(w.it.fault_of(p).what == "its powerConsumptionEndpointProvider cannot be asked");
    CHECK(w.it.fault_of(p).why == "bmc:443 did not answer");
    CHECK(w.counted(provider_outcome::failed) == 1);
    w.conversations(11s, p, says(200, "{}"));
    CHECK(w.it.fault_of(p).what.find("has no PowerConsumptionModel") != std::string::npos);
    CHECK(w.it.fault_of(p).why.empty());
    CHECK(w.counted(provider_outcome::unusable) == 1);
  }

  TEST_CASE("few conversations are held at once, one with each server, and who waits longest goes first") {
    world w;
    for (int i = 0; i < 20; ++i) {
      (void)w.it.want(at(fmt::format("bmc-{:02}", 19 - i)), w.now);
      (void)w.it.want(at(fmt::format("bmc-{:02}", 19 - i), "/other"), w.now);
      w.now += 1s;
    }
    const auto calls = w.it.next(w.now, any);
    REQUIRE(calls.size() == endpoint_providers::most_calls);
    CHECK(calls[0].about.host == "bmc-19");
    CHECK(calls[7].about.host == "bmc-12");
    CHECK(w.it.next(w.now, any).empty());
    (void)w.it.answered(calls[0], says(404, ""), w.now);
    const auto next = w.it.next(w.now, any);
    REQUIRE(next.size() == 1);
    CHECK_MESSAGE(next[0].about.host == "bmc-19", "the other one on that server");
    CHECK(next[0].about.path != calls[0].about.path);
  }

  TEST_CASE("a provider whose password is not known waits, and a corrected one ends its pause") {
    world w;
    const auto p = at("bmc", "", "ns/bmc");
    (void)w.it.want(p, w.now);
    CHECK(w.it.next(w.now, [](const endpoint_provider& one) { return one.secret.empty(); }).empty());
    w.conversations(1s, p, says(401, ""));
    REQUIRE_FALSE(w.it.fault_of(p).what.empty());
    CHECK(w.it.next(w.now, any).empty());
    w.it.ask_at_once("ns/other", w.now);
    CHECK(w.it.next(w.now, any).empty());
    w.it.ask_at_once("ns/bmc", w.now);
    CHECK(w.it.next(w.now, any).size() == 1);
  }

  TEST_CASE("providers are bounded in number, and those that nobody names are dropped") {
    world w;
    const auto number = [](std::size_t i) { return at(fmt::format("bmc-{}", i)); };
    for (std::size_t i = 0; i < endpoint_providers::most; ++i) (void)w.it.want(number(i), w.now);
    CHECK(w.it.size() == endpoint_providers::most);
    const auto late = number(endpoint_providers::most);
    CHECK(w.known(late).empty());
    CHECK(w.it.size() == endpoint_providers::most);
    CHECK(w.it.fault_of(late).what.starts_with(
        "more than 20000 different powerConsumptionEndpointProviders are named by NodeConfig objects"));
    CHECK(w.it.fault_of(number(0)).what.empty());
    // A minute later all but one have been named again, and that one gives way.
    w.now += 1min;
    for (std::size_t i = 1; i < endpoint_providers::most; ++i) (void)w.it.want(number(i), w.now);
    (void)w.it.want(late, w.now);
    CHECK(w.it.size() == endpoint_providers::most);
    CHECK(w.it.fault_of(late).what.empty());
    CHECK(w.it.next(w.now, any).size() == endpoint_providers::most_calls);
    w.now += endpoint_providers::dropped_after;
    CHECK(w.it.next(w.now, any).empty());
    CHECK(w.it.size() == 0);
  }

  TEST_CASE("the answer for a provider that was dropped meanwhile is left") {
    world w;
    const auto p = at("bmc");
    (void)w.it.want(p, w.now);
    const auto calls = w.it.next(w.now, any);
    REQUIRE(calls.size() == 1);
    w.now += endpoint_providers::dropped_after;
    CHECK(w.it.next(w.now, any).empty());
    CHECK_FALSE(w.it.answered(calls[0], systems(), w.now));
    CHECK(w.known(p).empty());
    CHECK_MESSAGE(w.it.next(w.now, any).size() == 1, "its server is free again");
  }
}

}  // namespace endpoint_providers_test
