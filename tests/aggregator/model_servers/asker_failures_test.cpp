#include "aggregator/model_servers/asker.hpp"
#include "tests/aggregator/model_servers/asker_world.hpp"

#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace asker_failures_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace binnacle::model_servers::test;

/// The same machine, by gRPC, in the form of MLServer.
reply grpc_watts(const asker::call& c) {
  std::string response;
  protozero::pbf_writer to(response);
  protozero::pbf_writer output(to, 5);
  output.add_string(2, "FP64");
  protozero::pbf_writer contents(output, 5);
  std::vector<double> all;
  for (std::size_t i = 0; i < c.count; ++i) all.push_back(100.0 + 2.0 * static_cast<double>(c.first + i));
  contents.add_packed_double(7, all.begin(), all.end());
  contents.commit();
  output.commit();
  return {reply::verdict::answered, response, {}};
}

result<reply> grpc_says(grpc::status s, const asker::call& c) {
  return reply_of(grpc::answer{s, "why", {}}, c.count, "");
}

TEST_SUITE("aggregator/model_servers/asker/failures") {
  TEST_CASE("a server that is down or slow is left alone for longer and longer, and its last answer counts") {
    error trouble{errc::timeout, "no answer in 500 ms"};
    SUBCASE("it is slow") {}
    SUBCASE("it refuses connections") { trouble = {errc::disconnected, "connection refused"}; }
    world w;
    const question q = about("h:1", "pc");
    (void)w.it.want(q, w.now);
    auto calls = w.next();
    w.it.answered(calls[0], heard(watts(calls[0]), calls[0]), w.now);
    w.pass(asker::asked_again_after);
    int attempts = 0;
    const instant down_since = w.now;
    while (w.now - down_since < 30min) {
      (void)w.it.want(q, w.now);
      for (const auto& c : w.next()) {
        ++attempts;
        w.it.answered(c, trouble, w.now);
      }
      w.pass(200ms);
    }
    CHECK(attempts > 20);
    CHECK(attempts < 250);
    CHECK(w.it.want(q, w.now) != nullptr);
    CHECK(w.it.troubles().at(0).find(trouble.message) != std::string::npos);
    CHECK(
        w.it.troubles().at(0).ends_with("; nodes with this model use its last curve for an hour, then the "
                                        "learned one"));
    CHECK(w.it.troubles(false).at(0).ends_with("for an hour, then none: all policies say model: External"));
    w.pass(asker::counts_for);
    CHECK_MESSAGE(w.it.want(q, w.now) == nullptr, "after an hour it does not");
    CHECK(w.curve(q, points) > 0);
    CHECK(w.it.want(q, w.now) != nullptr);
    CHECK(w.it.troubles().empty());
  }

  TEST_CASE("defect: of more than ten ill servers the rest were passed over in silence") {
    world w;
    std::vector<question> all;
    for (int i = 10; i < 37; ++i) all.push_back(about("h" + std::to_string(i) + ":1", "pc"));
    for (const question& q : all) (void)w.it.want(q, w.now);
    for (auto calls = w.next(); !calls.empty(); calls = w.next())
      for (const auto& c : calls) w.it.answered(c, error{errc::disconnected, "connection refused"}, w.now);
    const auto said = w.it.troubles();
    REQUIRE(said.size() == 11);
    CHECK(said[9].starts_with("model server h19:1: "));
    CHECK(said[10].starts_with("model servers and models: 17 more have trouble"));
    const auto ill = w.it.all_ill();
    REQUIRE(ill.size() == 27);
    CHECK(ill[26].who == "model server h36:1");
    CHECK(ill[26].sentence.starts_with("model server h36:1: connection refused"));
  }

  TEST_CASE("garbage, errors of the server's code and watts that cannot be cost that model alone") {
    for (const auto& bad :
         {says(200, "OK"), says(200, R"({"outputs":[{"data":[1]}]})"), says(500, "Internal Server Error"),
          says(422, R"({"detail":[]})"), says(404, R"({"error":"Model x not found"})")}) {
      world w;
      const question ill = about("h:1", "a"), well = about("h:1", "b");
      // The one that answers one value is asked for each load alone, until its curve is known to be flat.
      for (std::size_t i = 0; i < 10 + points; ++i) {
        (void)w.it.want(ill, w.now);
        (void)w.it.want(well, w.now);
        for (const auto& c : w.next()) w.it.answered(c, heard(c.about == ill ? bad : watts(c), c), w.now);
      }
      CHECK(w.it.want(well, w.now) != nullptr);
      CHECK(w.it.want(ill, w.now) == nullptr);
      CHECK_FALSE(w.it.trouble(ill).empty());
      CHECK(w.next().empty());
      w.pass(asker::asked_again_after + 1s);
      (void)w.it.want(ill, w.now);
      CHECK_FALSE(w.next().empty());
    }
    for (const unsigned status : {429U, 502U, 503U, 504U}) {
      CAPTURE(status);
      world w;
      (void)w.it.want(about("h:1", "a"), w.now);
      (void)w.it.want(about("h:1", "b"), w.now);
      const auto c = w.next();
      w.it.answered(c.at(0), heard(says(status, ""), c.at(0)), w.now);
      CHECK_MESSAGE(w.next().empty(), "the whole server is left alone");
    }
  }

  TEST_CASE("by gRPC a batch is halved, a model left alone and a server left alone just so") {
    question q = about("h:1", "pc");
    q.model = *v2_model("grpc://h:1/v2/models/pc");
    for (const auto too_many : {grpc::status::invalid_argument, grpc::status::resource_exhausted,
                                grpc::status::out_of_range, grpc::status::internal, grpc::status::unknown}) {
      CAPTURE(to_string(too_many));
      world w;
      (void)w.it.want(q, w.now);
      int calls = 0;
      for (auto now = w.next(); !now.empty(); now = w.next(), ++calls)
        w.it.answered(now[0],
                      now[0].count > 50 ? grpc_says(too_many, now[0]) : result<reply>(grpc_watts(now[0])),
                      w.now);
      CHECK(calls == 1 + 3);  // 101 points are too many; then calls of 50, 50 and 1
      REQUIRE(w.it.want(q, w.now) != nullptr);
      CHECK(w.it.want(q, w.now)->power.watts(10) == doctest::Approx(300));
      CHECK(w.it.want(q, w.now)->server == "grpc://h:1/v2/models/pc");
    }
    for (const auto ill : {grpc::status::unavailable, grpc::status::deadline_exceeded}) {
      CAPTURE(to_string(ill));
      world w;
      (void)w.it.want(q, w.now);
      (void)w.it.want(about("h:1", "other"), w.now);
      const auto calls = w.next();
      w.it.answered(calls.at(0), grpc_says(ill, calls[0]), w.now);
      CHECK_MESSAGE(w.next().empty(), "the whole server is left alone");
      CHECK(count(w.it, call_outcome::failed) == 1);
    }
    for (const auto refusal :
         {grpc::status::not_found, grpc::status::internal, grpc::status::unimplemented}) {
      CAPTURE(to_string(refusal));
      world w;
      (void)w.it.want(q, w.now);
      for (auto now = w.next(); !now.empty(); now = w.next())
        w.it.answered(now[0], grpc_says(refusal, now[0]), w.now);
      CHECK(w.it.trouble(q).find(to_string(refusal)) != std::string::npos);
      (void)w.it.want(about("h:1", "other"), w.now);
      CHECK_MESSAGE(w.next().size() == 1, "other models of the server go on");
    }
    world w;
    (void)w.it.want(q, w.now);
    const auto calls = w.next();
    w.it.answered(calls.at(0), reply{reply::verdict::answered, "nonsense", {}}, w.now);
    CHECK(count(w.it, call_outcome::implausible) == 1);
  }
}

}  // namespace asker_failures_test
