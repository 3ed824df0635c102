#include "cli/dashboard/history/answer.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace binnacle::cli::dashboard::history {

namespace history_answer_test {

constexpr range asked{100, 200};

result<std::vector<line>> read(std::string body, unsigned status = 200) {
  http::answer got;
  got.status = status;
  got.body = std::move(body);
  return understood("https://prom:9090", got, asked);
}

std::string matrix(std::string_view series) {
  return fmt::format(R"({{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}})", series);
}
std::string of_values(std::string_view values) {
  return matrix(fmt::format(R"({{"metric":{{}},"values":[{}]}})", values));
}

}  // namespace history_answer_test

TEST_SUITE("cli/dashboard/history/answer") {
  using namespace history_answer_test;

  TEST_CASE("values keep their digits and times; a value that is not a number gives no point") {
    const auto lines =
        read(of_values(R"([100,"71.4"],[105.5,"NaN"],[110,"-3.25"],[115,"+Inf"],[120,"1e+06"],[125,"-Inf"])"))
            .value();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].name.empty());
    const std::vector<std::pair<std::int64_t, double>> points{
        {100'000, 71.4}, {110'000, -3.25}, {120'000, 1e6}};
    CHECK(lines[0].points == points);
    CHECK(page_text(lines, asked, std::chrono::seconds(5), "m{a=\"b\"}") ==
          R"({"fromMs":100000,"toMs":200000,"stepMs":5000,"query":"m{a=\"b\"}",)"
          R"("lines":[{"name":"","points":[[100000,71.4],[110000,-3.25],[120000,1000000]]}]})");
  }

  TEST_CASE("the fleet's lines have names, and no line is no error") {
    const auto lines = read(matrix(R"({"metric":{"line":"lowest"},"values":[[100,"1"]]},)"
                                   R"({"metric":{"line":"highest"},"values":[[100,"2"]]})"))
                           .value();
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].name == "lowest");
    CHECK(lines[1].name == "highest");
    CHECK(read(matrix("")).value().empty());
    CHECK(read(of_values(R"([100,"NaN"])")).value().empty());
  }

  TEST_CASE("a server's own sentence is told, without what a terminal would obey") {
    const auto why =
        read(R"({"status":"error","errorType":"bad_data","error":"query timed out\u001b[2J"})", 503);
    REQUIRE(why.has_error());
    CHECK(why.error().message.find("https://prom:9090 tells no history: query timed out?[2J") == 0);
    const auto longer = read(R"({"status":"error","error":")" + std::string(100'000, 'x') + "\"}", 422);
    REQUIRE(longer.has_error());
    CHECK(longer.error().message.size() < 500);
  }

  TEST_CASE("a refusal and a server that is away name the setting that helps") {
    for (const unsigned status : {401u, 403u}) {
      const auto why = read("<html>no</html>", status);
      REQUIRE(why.has_error());
      CHECK(why.error().code == errc::permission);
      CHECK(why.error().message.find("--history-token") != std::string::npos);
    }
    const auto away = understood("http://p", error{errc::disconnected, "connection refused"}, asked);
    REQUIRE(away.has_error());
    CHECK(
        away.error().message ==
        "cannot ask http://p for history: connection refused; is the database running there? --history names "
        "another address");
  }

  TEST_CASE("an answer that is not of Prometheus is refused in one sentence") {
    const std::string deep(5000, '[');
    for (const std::string& body : {
             std::string(),
             std::string("<html>"),
             std::string("[]"),
             std::string("null"),
             std::string("{}"),
             deep,
             std::string(R"({"status":"success"})"),
             std::string(R"({"status":"success","data":[]})"),
             std::string(R"({"status":"success","data":{"resultType":"vector","result":[]}})"),
             matrix("1"),
             matrix("[]").substr(0, 40),
             of_values("1"),
             of_values("[]"),
             of_values("[100]"),
             of_values(R"([100,1])"),
             of_values(R"(["100","1"])"),
             of_values(R"([1e300,"1"])"),
             of_values(R"([100,"1 or so"])"),
             of_values(R"([100,""])"),
             of_values(R"([110,"1"],[105,"2"])"),  // backwards
             of_values(R"([110,"1"],[110,"2"])"),
             of_values(R"([99,"1"])"),
             of_values(R"([201,"1"])"),
             matrix(R"({"metric":{},"values":[]},{"values":[]},{"values":[]},{"values":[]})"),  // four
         }) {
      CAPTURE(body.substr(0, 200));
      const auto lines = read(body);
      if (lines.has_value()) {
        CHECK(lines->empty());  // a series without values gives no line
        continue;
      }
      CHECK(lines.error().code == errc::protocol);
      CHECK(lines.error().message.find("Prometheus' HTTP API") != std::string::npos);
    }
    CHECK(read("not found", 404).error().message.find("HTTP status 404") != std::string::npos);
    CHECK(read(of_values(R"([110,"1"],[105,"2"])")).has_error());
    CHECK(read(of_values(R"([201,"1"])")).has_error());
    CHECK(read(matrix(R"({},{},{},{})")).has_error());
  }
}

}  // namespace binnacle::cli::dashboard::history
