#include "aggregator/model_servers/asker.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>

namespace model_asker_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace std::chrono_literals;

question about(const std::string& server, const std::string& model, double inlet = 22) {
  question q;
  q.model = *v2_model("http://" + server + "/v2/models/" + model + "/infer");
  q.cores = 10;
  q.others = {inlet, 5, 0};
  return q;
}

http::answer says(unsigned status, std::string body) {
  http::answer a;
  a.status = status;
  a.body = std::move(body);
  return a;
}

result<reply> heard(const http::answer& a, const asker::call& c) { return reply_of(a, c.count, ""); }

/// The answer for a machine that draws 100 W when idle and 2 W more for each percent of load.
http::answer watts(const asker::call& c) {
  std::string data;
  for (std::size_t i = 0; i < c.count; ++i)
    data += fmt::format("{}{}", i == 0 ? "" : ",", 100 + 2 * (c.first + i));
  return says(200, R"({"outputs":[{"name":"predict","data":[)" + data + "]}]}");
}

/// The metadata of a V2 model with this input.
std::string metadata(const std::string& input) {
  return R"({"name":"pc","versions":["1"],"platform":"python","inputs":[)" + input +
         R"(],"outputs":[{"name":"predict","datatype":"FP32","shape":[-1,1]}]})";
}

struct world {
  asker it{7};
  instant now = from_ns(1'000'000'000'000);
  /// The calls for curves. The server says nothing of its models: each call for metadata is refused.
  std::vector<asker::call> next() {
    std::vector<asker::call> out;
    for (bool refused = true; refused;) {
      refused = false;
      for (auto& c : it.next(now)) {
        if (c.for_metadata()) {
          refused = true;
          it.answered(c, reply{reply::verdict::refused, {}, "404"}, now);
        } else {
          out.push_back(std::move(c));
        }
      }
    }
    return out;
  }
  void pass(duration d) { now += d; }
  /// Asks for the curve until it is known. The model answers in time only if a call has at most `most`
  /// points. Returns how many calls that took.
  int curve(const question& q, std::size_t most) {
    int calls = 0;
    for (const instant until = now + 10min; now < until && calls < 100; pass(1s)) {
      (void)it.want(q, now);
      for (const auto& c : next()) {
        ++calls;
        const error late{errc::timeout, "no answer in 500 ms"};
        it.answered(c, c.count > most ? result<reply>(late) : heard(watts(c), c), now);
        if (it.want(q, now) != nullptr) return calls;
      }
    }
    return calls;
  }
};

std::uint64_t count(const asker& a, call_outcome o) { return a.counted()[static_cast<std::size_t>(o)]; }

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

TEST_SUITE("aggregator/model_servers/asker") {
  TEST_CASE("an answer that one password got is no answer for another") {
    world w;
    question one = about("h:1", "pc"), other = one;
    one.model.secret = "ns/one";
    other.model.secret = "ns/other";
    const auto only_one = [](const served_model& m) { return m.secret == "ns/one"; };
    for (const question& q : {one, other}) CHECK(w.it.want(q, w.now) == nullptr);
    for (int i = 0; i < 9; ++i, w.pass(1s)) {
      for (const auto& c : w.it.next(w.now, only_one)) {
        CHECK(c.about.model.secret == "ns/one");
        const auto got = c.for_metadata() ? says(404, "no such page") : watts(c);
        w.it.answered(c, heard(got, c), w.now);
      }
    }
    CHECK(w.it.want(one, w.now) != nullptr);
    CHECK_MESSAGE(w.it.want(other, w.now) == nullptr, "its password is not known, so nobody was asked");
  }

  TEST_CASE("when a password was corrected, its models are asked at once, whatever was refused before") {
    world w;
    question q = about("h:1", "pc");
    q.model.secret = "ns/s";
    (void)w.it.want(q, w.now);
    const instant until = w.now + 30min;
    for (; w.now < until; w.pass(1s)) {
      (void)w.it.want(q, w.now);
      for (const auto& c : w.it.next(w.now))
        w.it.answered(c, reply_of(says(401, ""), c.count, "ns/s"), w.now);
    }
    CHECK(w.it.trouble(q).find("of the Secret ns/s") != std::string::npos);
    CHECK_MESSAGE(w.it.next(w.now).empty(), "a pause of minutes");
    w.it.ask_at_once("ns/other");
    CHECK(w.it.next(w.now).empty());
    w.it.ask_at_once("ns/s");
    CHECK(w.it.next(w.now).size() == 1);
  }

  TEST_CASE("one request brings the whole curve, and none is made while it counts") {
    world w;
    const question q = about("h:1", "pc");
    CHECK(w.it.want(q, w.now) == nullptr);
    auto calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].first == 0);
    CHECK(calls[0].count == points);
    CHECK_MESSAGE(w.next().empty(), "one call at a time goes to a server");
    w.it.answered(calls[0], heard(watts(calls[0]), calls[0]), w.now);
    const auto known = w.it.want(q, w.now);
    REQUIRE(known != nullptr);
    CHECK(known->from == predict::model_source::server);
    CHECK(known->server == "http://h:1/v2/models/pc/infer");
    CHECK(known->power.watts(5) == doctest::Approx(200));
    CHECK(w.next().empty());
    CHECK(w.it.trouble(q).empty());
    w.pass(asker::asked_again_after);
    CHECK_MESSAGE(w.it.want(q, w.now) == known, "it counts while it is asked again");
    CHECK(w.next().size() == 1);
  }

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

  TEST_CASE("nodes with the same model and inputs ask one question, other inputs and servers their own") {
    world w;
    for (int node = 0; node < 100; ++node) (void)w.it.want(about("h:1", "pc", 22 + node % 2), w.now);
    (void)w.it.want(about("other:1", "pc"), w.now);
    CHECK(w.it.size() == 3);
    const auto calls = w.next();
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].about.model.server() != calls[1].about.model.server());
  }

  TEST_CASE("a batch that a server refuses is halved, and the server's limit is remembered") {
    world w;
    const question q = about("h:1", "pc");
    constexpr std::size_t limit = 30;
    const auto ask_all = [&] {
      int calls = 0;
      for (;;) {
        (void)w.it.want(q, w.now);
        const auto now = w.next();
        if (now.empty()) return calls;
        ++calls;
        w.it.answered(
            now[0],
            heard(now[0].count > limit ? says(400, R"({"error":"batch-size must be <= 30"})") : watts(now[0]),
                  now[0]),
            w.now);
      }
    };
    CHECK(ask_all() == 2 + 5);  // 101 and 50 points are too many; then four calls of 25, and one of 1
    const auto known = w.it.want(q, w.now);
    REQUIRE(known != nullptr);
    CHECK(known->power.watts(10) == doctest::Approx(300));
    CHECK(count(w.it, call_outcome::halved) == 2);
    w.pass(asker::asked_again_after);
    CHECK(ask_all() == 5);
  }

  TEST_CASE("a model that refuses every batch is left alone, and does not keep its server from others") {
    world w;
    const question bad = about("h:1", "bad"), good = about("h:1", "good");
    int calls_of_bad = 0;
    for (int i = 0; i < 50; ++i) {
      (void)w.it.want(bad, w.now);
      (void)w.it.want(good, w.now);
      for (const auto& c : w.next()) {
        const bool is_bad = c.about == bad;
        calls_of_bad += is_bad ? 1 : 0;
        w.it.answered(c, heard(is_bad ? says(400, R"({"error":"unexpected inference input"})") : watts(c), c),
                      w.now);
      }
    }
    CHECK(calls_of_bad == 7);  // with 101, 50, 25, 12, 6, 3 and 1 points
    CHECK(w.it.want(good, w.now) != nullptr);
    CHECK(w.it.want(bad, w.now) == nullptr);
    CHECK(w.it.trouble(bad).find("unexpected inference input") != std::string::npos);
    CHECK(w.it.trouble(good).empty());
    CHECK(w.it.troubles().size() == 1);
  }

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
    w.pass(asker::counts_for);
    CHECK_MESSAGE(w.it.want(q, w.now) == nullptr, "after an hour it does not");
    CHECK(w.curve(q, points) > 0);
    CHECK(w.it.want(q, w.now) != nullptr);
    CHECK(w.it.troubles().empty());
  }

  TEST_CASE(
      "a model that is slow with a whole curve gives it in parts, and its server's other models go on") {
    world w;
    const question slow = about("h:1", "slow"), other = about("h:1", "other");
    CHECK(w.curve(slow, 30) == 2 + 5);  // 101 and 50 points take too long; then 4 x 25 and 1
    const auto known = w.it.want(slow, w.now);
    REQUIRE(known != nullptr);
    CHECK(known->power.watts(10) == doctest::Approx(300));
    CHECK(w.it.troubles().empty());
    (void)w.it.want(about("h:1", "slower"), w.now);
    const auto late = w.next();
    REQUIRE(late.size() == 1);
    w.it.answered(late[0], error{errc::timeout, "no answer in 500 ms"}, w.now);
    CHECK(count(w.it, call_outcome::failed) == 0);
    CHECK(w.it.troubles().at(0).find("101 loads at once: no answer in 500 ms") != std::string::npos);
    CHECK_MESSAGE(w.curve(other, points) == 1, "the server is not left alone");
  }

  TEST_CASE("a batch that was refused once is tried larger again an hour later") {
    world w;
    const question q = about("h:1", "pc");
    (void)w.it.want(q, w.now);
    const auto refused = w.next();
    w.it.answered(refused.at(0), heard(says(400, "{}"), refused[0]), w.now);  // a moment's trouble
    CHECK(w.curve(q, points) == 3);
    for (const int expected : {3, 3, 3, 2}) {  // parts of 50 points, then the whole hundred, then all
      w.pass(asker::asked_again_after);
      (void)w.it.want(q, w.now);
      int calls = 0;
      for (auto now = w.next(); !now.empty(); now = w.next(), ++calls)
        w.it.answered(now[0], heard(watts(now[0]), now[0]), w.now);
      CHECK(calls == expected);
    }
  }

  TEST_CASE("garbage, errors of the server's code and watts that cannot be cost that model alone") {
    for (const auto& bad :
         {says(200, "OK"), says(200, R"({"outputs":[{"data":[1]}]})"), says(500, "Internal Server Error"),
          says(422, R"({"detail":[]})"), says(404, R"({"error":"Model x not found"})")}) {
      world w;
      const question ill = about("h:1", "a"), well = about("h:1", "b");
      for (int i = 0; i < 5; ++i) {
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
    for (const auto too_many :
         {grpc::status::invalid_argument, grpc::status::resource_exhausted, grpc::status::out_of_range}) {
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
      auto calls = w.next();
      w.it.answered(calls.at(0), grpc_says(refusal, calls[0]), w.now);
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

  TEST_CASE("a V2 model's metadata are read once, in a call of its own, and questions go by them") {
    world w;
    const question q = about("h:1", "pc"), warmer = about("h:1", "pc", 23), other = about("h:1", "other");
    (void)w.it.want(q, w.now);
    (void)w.it.want(warmer, w.now);
    auto calls = w.it.next(w.now);
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].for_metadata());
    CHECK_MESSAGE(w.it.next(w.now).empty(), "one call at a time goes to a server");
    w.it.answered(
        calls[0],
        heard(says(200, metadata(R"({"name":"features","datatype":"FP64","shape":[-1,3]})")), calls[0]),
        w.now);
    for (int question = 0; question < 2; ++question) {
      calls = w.it.next(w.now);
      REQUIRE(calls.size() == 1);
      CHECK(calls[0].count == points);
      CHECK(calls[0].input == model_input{"features", true, model_input::shape::rows});
      w.it.answered(calls[0], heard(watts(calls[0]), calls[0]), w.now);
    }
    CHECK(w.it.want(q, w.now) != nullptr);
    CHECK(w.it.want(warmer, w.now) != nullptr);
    (void)w.it.want(other, w.now);
    CHECK_MESSAGE(w.it.next(w.now).at(0).for_metadata(), "another model has its own");
  }

  TEST_CASE("a server that does not say what its model takes is asked as WAO asks") {
    question by_grpc = about("h:1", "pc");
    by_grpc.model = *v2_model("grpc://h:1/v2/models/pc");
    const error late{errc::timeout, "no answer in 500 ms"};
    for (const question& q : {about("h:1", "pc"), by_grpc}) {
      const auto said = [](std::string body) { return reply{reply::verdict::answered, std::move(body), {}}; };
      for (const result<reply>& silent :
           {result<reply>(late), result<reply>(reply{reply::verdict::refused, {}, "404"}),
            result<reply>(reply{reply::verdict::busy, {}, "503"}), result<reply>(said("nonsense")),
            result<reply>(said("")), result<reply>(said(R"({"inputs":[]})")),
            result<reply>(said(R"({"inputs":[{"name":"x","datatype":"FP64"}]})"))}) {
        world w;
        (void)w.it.want(q, w.now);
        auto calls = w.it.next(w.now);
        REQUIRE(calls.at(0).for_metadata());
        w.it.answered(calls[0], silent, w.now);
        CHECK(w.it.trouble(q).empty());
        calls = w.it.next(w.now);
        REQUIRE(calls.size() == 1);
        CHECK(calls[0].count == points);
        CHECK(calls[0].input == model_input{});
      }
    }
  }

  TEST_CASE("a model whose input does not fit is named and left alone, and its server's other models go on") {
    world w;
    const question wide = about("h:1", "wide"), well = about("h:1", "well");
    const std::string of_four = metadata(R"({"name":"x","datatype":"FP32","shape":[-1,4]})");
    int calls_of_wide = 0;
    const auto ask = [&](const std::string& of_wide) {
      (void)w.it.want(wide, w.now);
      (void)w.it.want(well, w.now);
      for (const auto& c : w.it.next(w.now)) {
        const bool is_wide = c.about == wide;
        calls_of_wide += is_wide ? 1 : 0;
        const auto told = says(200, is_wide ? of_wide : metadata(""));
        w.it.answered(c, heard(c.for_metadata() ? told : watts(c), c), w.now);
      }
    };
    for (int i = 0; i < 5; ++i) ask(of_four);
    CHECK_MESSAGE(calls_of_wide == 1, "it is not asked for watts");
    CHECK(w.it.trouble(wide) ==
          "by its metadata its input \"x\" has the shape [-1,4], and can be given [-1,3], [1,3] or [3]");
    CHECK(w.it.want(well, w.now) != nullptr);
    CHECK(w.it.troubles().size() == 1);
    // Another model takes its place.
    w.pass(1min);
    for (int i = 0; i < 5; ++i) ask(metadata(R"({"name":"x","datatype":"FP32","shape":[-1,3]})"));
    CHECK(w.it.want(wide, w.now) != nullptr);
    CHECK(w.it.troubles().empty());
  }

  TEST_CASE("a model that takes one load at a time is given one at a time") {
    world w;
    const question q = about("h:1", "pc");
    (void)w.it.want(q, w.now);
    int calls = 0;
    for (auto now = w.it.next(w.now); !now.empty(); now = w.it.next(w.now), ++calls) {
      REQUIRE(now.size() == 1);
      CHECK(now[0].count <= 1);
      w.it.answered(
          now[0],
          heard(now[0].for_metadata() ? says(200, metadata(R"({"name":"x","datatype":"FP32","shape":[3]})"))
                                      : watts(now[0]),
                now[0]),
          w.now);
    }
    CHECK(calls == 1 + points);
    REQUIRE(w.it.want(q, w.now) != nullptr);
    CHECK(w.it.want(q, w.now)->power.watts(10) == doctest::Approx(300));
  }

  TEST_CASE("a model that is described as if for one load, and means any number of them, is given them all") {
    world w;
    const question q = about("h:1", "pc");
    for (const auto of : {model_input::shape::bare, model_input::shape::rows}) {
      (void)w.it.want(q, w.now);
      if (of == model_input::shape::bare) {
        const auto first = w.it.next(w.now);
        w.it.answered(
            first.at(0),
            heard(says(200, metadata(R"({"name":"x","datatype":"FP32","shape":[3]})")), first.at(0)), w.now);
      }
      const auto calls = w.it.next(w.now);
      REQUIRE(calls.size() == 1);
      CHECK(calls[0].input == model_input{"x", false, of});
      const bool bare = of == model_input::shape::bare;
      w.it.answered(calls[0], heard(bare ? says(500, "Internal Server Error") : watts(calls[0]), calls[0]),
                    w.now);
      w.pass(1min);
    }
    CHECK(w.it.want(q, w.now) != nullptr);
  }

  TEST_CASE("the metadata of a model that refuses a question are read again") {
    world w;
    const question q = about("h:1", "pc");
    (void)w.it.want(q, w.now);
    w.it.answered(w.next().at(0), reply{reply::verdict::refused, {}, "404"}, w.now);
    CHECK(w.it.next(w.now).empty());
    w.pass(1min);
    (void)w.it.want(q, w.now);
    auto calls = w.it.next(w.now);
    REQUIRE(calls.at(0).for_metadata());
    w.it.answered(calls[0],
                  heard(says(200, metadata(R"({"name":"x","datatype":"FP32","shape":[-1,3]})")), calls[0]),
                  w.now);
    CHECK(w.it.next(w.now).at(0).input.name == "x");
  }

  TEST_CASE("what models take is forgotten with their last question") {
    world w;
    (void)w.it.want(about("h:1", "a"), w.now);
    auto calls = w.next();
    w.it.answered(calls.at(0), heard(watts(calls[0]), calls[0]), w.now);
    w.pass(asker::dropped_after);
    CHECK(w.it.next(w.now).empty());
    (void)w.it.want(about("h:1", "a"), w.now);
    CHECK(w.it.next(w.now).at(0).for_metadata());
  }

  TEST_CASE(
      "how much a model takes at once is forgotten with its last question, though its server is asked on") {
    world w;
    const question gone = about("h:1", "gone"), stays = about("h:1", "stays");
    CHECK(w.curve(gone, 50) > 1);  // from now on in halves
    (void)w.it.want(gone, w.now);
    for (const instant until = w.now + 2 * asker::dropped_after; w.now < until; w.pass(1min)) {
      (void)w.it.want(stays, w.now);
      for (const auto& c : w.next()) w.it.answered(c, heard(watts(c), c), w.now);
    }
    CHECK(w.it.size() == 1);
    CHECK(w.it.want(gone, w.now) == nullptr);
    const auto calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].about == gone);
    CHECK(calls[0].count == points);
  }

  TEST_CASE("questions are bounded, and those that nobody asks any more are dropped") {
    world w;
    for (std::size_t i = 0; i < asker::most_questions + 10; ++i)
      (void)w.it.want(about("h:1", "pc", static_cast<double>(i)), w.now);
    CHECK(w.it.size() == asker::most_questions);
    CHECK(w.it.troubles().at(0).find("more than 2000 curves") != std::string::npos);
    w.pass(asker::dropped_after);
    CHECK(w.next().empty());
    CHECK(w.it.size() == 0);
  }

  TEST_CASE("an answer to a question that was dropped meanwhile harms nothing") {
    world w;
    (void)w.it.want(about("h:1", "pc"), w.now);
    const auto calls = w.next();
    w.pass(asker::dropped_after);
    CHECK(w.next().empty());
    w.it.answered(calls.at(0), heard(watts(calls[0]), calls[0]), w.now);
    CHECK(w.next().empty());
    CHECK(w.it.size() == 0);
    (void)w.it.want(about("h:1", "pc"), w.now);
    CHECK(w.next().size() == 1);
  }
}

}  // namespace model_asker_test
