#include "aggregator/kube/json.hpp"

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace json_test {

using namespace binnacle;

TEST_SUITE("aggregator/kube/json") {
  TEST_CASE("a stream says what each of its objects has lost") {
    const auto object = [](std::size_t members) {
      std::string out;
      for (std::size_t i = 0; i < members; ++i) out += fmt::format("{}\"k{}\":1", i == 0 ? "" : ",", i);
      return "{" + out + "}\n";
    };
    const std::size_t most = json_reader::most_members;
    kube::object_stream stream;
    std::vector<std::size_t> left_out;
    const auto each = [&](const boost::json::object&) {
      left_out.push_back(stream.members_left_out());
      return true;
    };
    REQUIRE(stream.feed(object(most + 4) + object(most) + object(most + 1), each).has_value());
    CHECK(left_out == std::vector<std::size_t>{4, 0, 1});
  }

  TEST_CASE("a stream takes the largest object that etcd does, all of it escaped") {
    std::string text;
    for (std::size_t i = 0; i < (3u << 20) / 2; ++i) text += "\\u003c";
    kube::object_stream stream;
    std::size_t size = 0;
    const auto each = [&](const boost::json::object& o) {
      size = o.at("a").as_string().size();
      return true;
    };
    REQUIRE(stream.feed("{\"a\":\"" + text + "\"}", each).has_value());
    CHECK(size == (3u << 20) / 2);
    const auto too_large = stream.feed("{\"a\":\"" + text + text + "\"}", each);
    CHECK(too_large.error().code == errc::overloaded);
  }

  TEST_CASE("a list may come in pieces, and what is wrong in any of them is wrong") {
    const auto whole = [](std::string_view text, std::size_t piece) {
      kube::list_reader reader([](const boost::json::value&, std::size_t) {});
      for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
      const auto got = reader.finish();
      return got ? boost::json::serialize(*got) : got.error().message;
    };
    for (const std::size_t piece : {std::size_t(1), std::size_t(4), std::size_t(100)}) {
      CHECK(whole("{\"a\":[1,{\"b\":null}]}\n \n", piece) == R"({"a":[1,{"b":null}]})");
      CHECK(whole(R"({"a":1} x )", piece) == "the answer is not JSON: more follows behind it");
      CHECK(whole(R"({"a":nonsense,"b":2})", piece).starts_with("the answer is not JSON: "));
      CHECK(whole(R"({"a":)", piece).starts_with("the answer is not JSON: "));
      CHECK(whole("", piece).starts_with("the answer is not JSON: "));
    }
  }

  TEST_CASE("an answer with something behind it is no answer") {
    CHECK(kube::parse_object(R"({"a":1} )").has_value());
    CHECK(kube::parse_object(R"({"a":1} x)").has_error());
    CHECK(kube::parse_object(R"({"a":1)").has_error());
    CHECK(kube::parse_object("").has_error());
    CHECK(kube::parse_object("[]").has_error());
  }
}

}  // namespace json_test
