#include "aggregator/kube/json_reader.hpp"

#include "aggregator/kube/json.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace json_reader_test {

using namespace binnacle;
using kube::json_reader;

namespace {

/// The value of `text`, fed in pieces of this size.
boost::json::value read(std::string_view text, std::size_t piece) {
  json_reader reader;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const auto part = text.substr(at, piece);
    CHECK(reader.read(part, at + piece < text.size()).value() == part.size());
  }
  REQUIRE(reader.is_complete());
  return reader.take();
}

std::string members(std::size_t from, std::size_t to, std::string_view value) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += fmt::format("{}\"k{}\":{}", i == from ? "" : ",", i, value);
  return out;
}

}  // namespace

TEST_SUITE("aggregator/kube/json_reader") {
  TEST_CASE("a value is what it is, in whatever pieces it comes") {
    const std::string text =
        R"({"a":[1,-2,18446744073709551615,0.5,true,false,null,"te\u00e4xt",[],{}],"b":{"c":{"d":"e"}},"":"","a":7})";
    for (const std::size_t piece : {text.size(), std::size_t(1), std::size_t(3)})
      CHECK(read(text, piece) == boost::json::parse(text));
  }

  TEST_CASE("a reader reads one value after another") {
    json_reader reader;
    const std::string two = R"({"a":1}{"b":2})";
    const auto used = reader.read(two, true).value();
    REQUIRE(reader.is_complete());
    CHECK(boost::json::serialize(reader.take()) == R"({"a":1})");
    CHECK(used == 7);
    (void)reader.read(std::string_view(two).substr(used), true).value();
    CHECK(boost::json::serialize(reader.take()) == R"({"b":2})");
    CHECK(reader.read("{nonsense", true).has_error());
  }

  TEST_CASE("managedFields of metadata are left out, and nothing else of that name") {
    const std::string text =
        R"({"metadata":{"managedFields":[{"f:metadata":{"f:annotations":{"f:a":{}}},"n":[1,[2]]},{}],"name":"web",)"
        R"("annotations":{"managedFields":"kept"}},"managedFields":1,"items":[{"metadata":{"name":"b","managedFields":null}}]})";
    const std::string rest =
        R"({"metadata":{"name":"web","annotations":{"managedFields":"kept"}},"managedFields":1,"items":[{"metadata":{"name":"b"}}]})";
    for (const std::size_t piece : {text.size(), std::size_t(1)})
      CHECK(boost::json::serialize(read(text, piece)) == rest);
  }

  TEST_CASE(
      "members beyond the most are left out, whatever they are, and what follows their object is read") {
    const std::size_t most = json_reader::most_members;
    for (const std::string_view value :
         {R"("text")", "17", "1.5", "true", "null", R"({"a":{"b":[{}]},"c":1})", "[[],[1,{}]]"}) {
      CAPTURE(value);
      const std::string kept = fmt::format(R"({{"o":{{{}}},"after":[1]}})", members(0, most, value));
      const std::string more = fmt::format(R"({{"o":{{{}}},"after":[1]}})", members(0, most + 3, value));
      for (const std::size_t piece : {more.size(), std::size_t(1)})
        CHECK(read(more, piece) == boost::json::parse(kept));
    }
  }

  TEST_CASE("members that are left out are counted, by the item of a list that had them") {
    const std::size_t most = json_reader::most_members;
    const auto object = [&](std::size_t more) {
      return fmt::format(R"({{"metadata":{{"labels":{{{}}},"annotations":{{{}}}}}}})",
                         members(0, most + more, R"("v")"), members(0, most + 2 * more, "{\"deep\":[{}]}"));
    };
    const std::string text = fmt::format(R"({{"kind":"List","items":[{},{},{}],"metadata":{{}}}})", object(0),
                                         object(5), object(7));
    std::vector<json_reader::cut> cuts;
    REQUIRE(kube::parse_object(text, cuts).has_value());
    REQUIRE(cuts.size() == 2);
    CHECK(cuts[0].item == 1);
    CHECK(cuts[0].members == 15);
    CHECK(cuts[1].item == 2);
    CHECK(cuts[1].members == 21);

    REQUIRE(kube::parse_object(object(1), cuts).has_value());
    REQUIRE(cuts.size() == 1);
    CHECK_FALSE(cuts[0].item.has_value());
    CHECK(cuts[0].members == 3);

    kube::object_stream stream;
    std::vector<std::size_t> left_out;
    const auto each = [&](const boost::json::object&) {
      left_out.push_back(stream.members_left_out());
      return true;
    };
    REQUIRE(stream.feed(object(4) + "\n" + object(0) + "\n" + object(1), each).has_value());
    CHECK(left_out == std::vector<std::size_t>{12, 0, 3});
  }

  TEST_CASE("an object may come in pieces, and what is wrong in any of them is wrong") {
    const auto whole = [](std::string_view text, std::size_t piece) {
      kube::object_reader reader;
      for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
      std::vector<json_reader::cut> cuts;
      const auto got = reader.finish(cuts);
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

}  // namespace json_reader_test
