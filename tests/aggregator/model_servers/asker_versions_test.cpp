#include "aggregator/model_servers/asker.hpp"
#include "tests/aggregator/model_servers/asker_world.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace asker_versions_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace binnacle::model_servers::test;

/// The same machine, by this version of a model in TensorFlow Serving, by gRPC.
reply tf_watts(const asker::call& c, std::int64_t version) {
  std::string response;
  protozero::pbf_writer to(response);
  {
    protozero::pbf_writer output(to, 1);
    output.add_string(1, "outputs");
    protozero::pbf_writer tensor(output, 2);
    std::vector<double> all;
    for (std::size_t i = 0; i < c.count; ++i) all.push_back(100.0 + 2.0 * static_cast<double>(c.first + i));
    tensor.add_packed_double(6, all.begin(), all.end());
  }
  {
    protozero::pbf_writer spec(to, 2);
    protozero::pbf_writer wrapped(spec, 2);
    wrapped.add_int64(1, version);
  }
  return {reply::verdict::answered, response, {}};
}

TEST_SUITE("aggregator/model_servers/asker/versions") {
  TEST_CASE("a new version of a model is a new question, and nothing of the old version counts for it") {
    world w;
    const question first = about("h:1", "pc/versions/1"), second = about("h:1", "pc/versions/2");
    CHECK(w.it.want(first, w.now) == nullptr);
    const auto calls = w.next();
    REQUIRE(calls.size() == 1);
    w.it.answered(calls[0], heard(watts(calls[0]), calls[0]), w.now);
    CHECK(w.it.want(first, w.now) != nullptr);
    CHECK(w.it.want(second, w.now) == nullptr);
    const auto again = w.next();
    REQUIRE(again.size() == 1);
    CHECK(again[0].about.model.path == "/v2/models/pc/versions/2/infer");
  }

  TEST_CASE("when a server puts another version in a model's place, all its curves are asked for again") {
    world w;
    const auto warm = about("s", "pc", 22), cold = about("s", "pc", 18), other = about("s", "rack");
    std::string version = "1";
    // Asks for these curves until nothing is due; returns the calls.
    const auto ask = [&](std::initializer_list<const question*> wanted) {
      std::vector<asker::call> out;
      for (const auto* q : wanted) (void)w.it.want(*q, w.now);
      for (auto all = w.next(); !all.empty(); all = w.next()) {
        for (const auto& c : all) {
          http::answer a = watts(c);
          a.body.insert(1, fmt::format(R"("model_version":"{}",)", version));
          w.it.answered(c, heard(a, c), w.now);
          out.push_back(c);
        }
      }
      return out;
    };
    REQUIRE(ask({&warm}).size() == 1);
    w.pass(10min);
    REQUIRE(ask({&warm, &cold, &other}).size() == 2);
    w.pass(asker::asked_again_after - 10min);
    version = "2";
    // Only `warm` is due, and its answer shows the change.
    const auto calls = ask({&warm, &cold, &other});
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].about == warm);
    CHECK(calls[1].about == cold);
    CHECK(ask({&warm, &cold, &other}).empty());
    SUBCASE("replicas of two versions that take turns do not make it ask without end") {
      std::size_t more = 0;
      for (int i = 0; i < 100; ++i) {
        w.pass(10s);
        version = i % 2 == 0 ? "1" : "2";
        more += ask({&warm, &cold, &other}).size();
      }
      CHECK(more <= 6);
    }
  }

  TEST_CASE("defect: of another version in TensorFlow Serving its other curves were told 15 minutes later") {
    world w;
    question warm = about("s", "pc");
    warm.model = *tf_model(carrier::grpc, "s", 8500, "konohana", "", "");
    warm.top = 1;
    warm.count = 3;
    warm.others = {.8, .5, .5};
    question cold = warm;
    cold.others = {.2, .5, .5};
    const auto calls_for = [&w](std::int64_t version, std::initializer_list<const question*> wanted) {
      std::size_t calls = 0;
      for (const auto* q : wanted) (void)w.it.want(*q, w.now);
      for (auto all = w.next(); !all.empty(); all = w.next()) {
        for (const auto& c : all) w.it.answered(c, tf_watts(c, version), w.now);
        calls += all.size();
      }
      return calls;
    };
    REQUIRE(calls_for(1, {&warm}) == 1);
    w.pass(10min);
    REQUIRE(calls_for(1, {&warm, &cold}) == 1);
    w.pass(asker::asked_again_after - 10min);
    CHECK(calls_for(2, {&warm, &cold}) == 2);
    CHECK(w.it.want(cold, w.now) != nullptr);
    CHECK(calls_for(2, {&warm, &cold}) == 0);
  }

  TEST_CASE("no curve is put together from two versions of a model") {
    world w;
    const auto q = about("s", "pc");
    REQUIRE(w.curve(q, 50) > 1);  // from now on in halves
    w.pass(asker::asked_again_after);
    (void)w.it.want(q, w.now);
    const auto answer = [&w](const asker::call& c, const std::string& version) {
      http::answer a = watts(c);
      a.body.insert(1, fmt::format(R"("model_version":"{}",)", version));
      w.it.answered(c, heard(a, c), w.now);
    };
    auto calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].first == 0);
    answer(calls[0], "1");
    calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].first > 0);
    answer(calls[0], "2");
    calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].first == 0);
    // Replicas of two versions: the next change comes too soon to be one.
    answer(calls[0], "1");
    calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].first > 0);
    answer(calls[0], "2");
    CHECK(w.next().empty());
    CHECK(w.it.trouble(q) == R"(two versions of it answer for one curve, "1" and "2")");
  }
}

}  // namespace asker_versions_test
