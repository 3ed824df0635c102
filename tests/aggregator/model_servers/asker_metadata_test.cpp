#include "aggregator/model_servers/asker.hpp"
#include "tests/aggregator/model_servers/asker_world.hpp"

#include <string>
#include <utility>

namespace asker_metadata_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace binnacle::model_servers::test;

/// The metadata of a V2 model with this input.
std::string metadata(const std::string& input) {
  return R"({"name":"pc","versions":["1"],"platform":"python","inputs":[)" + input +
         R"(],"outputs":[{"name":"predict","datatype":"FP32","shape":[-1,1]}]})";
}

TEST_SUITE("aggregator/model_servers/asker/metadata") {
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

  // Before, each late load of the one paused the server, and the other one's next call had one load, too.
  TEST_CASE(
      "a model that takes one load at a time, and none in time, leaves its server's other models alone") {
    world w;
    const question slow = about("h:1", "a-slow"), quick = about("h:1", "quick");
    const error late{errc::timeout, "no answer in 500 ms"};
    int calls = 0, news = 0;
    std::size_t troubles = 0;
    for (int i = 0; i < 3600; ++i, w.pass(500ms)) {
      (void)w.it.want(slow, w.now);
      (void)w.it.want(quick, w.now);
      for (const auto& c : w.it.next(w.now)) {
        const char* shape = c.about == slow ? "[3]" : "[-1,3]";
        const auto told = fmt::format(R"({{"name":"x","datatype":"FP32","shape":{}}})", shape);
        if (c.for_metadata()) {
          w.it.answered(c, heard(says(200, metadata(told)), c), w.now);
        } else if (c.about == slow) {
          w.it.answered(c, late, w.now);
        } else {
          ++calls;
          w.it.answered(c, heard(watts(c), c), w.now);
        }
      }
      if (w.it.troubles().size() != std::exchange(troubles, w.it.troubles().size())) ++news;
    }
    CHECK(w.it.want(quick, w.now) != nullptr);
    CHECK(w.it.want(slow, w.now) == nullptr);
    CHECK_MESSAGE(calls <= 4, "a whole curve each, every quarter of an hour");
    CHECK_MESSAGE(news < 20, "a late call in a row of two, now and then");
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
}

}  // namespace asker_metadata_test
