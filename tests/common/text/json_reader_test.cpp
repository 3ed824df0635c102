#include "common/text/json_reader.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace json_reader_test {

using namespace binnacle;

namespace {

/// The value of `text`, fed in pieces of this size.
boost::json::value read(json_reader& reader, std::string_view text, std::size_t piece) {
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const auto part = text.substr(at, piece);
    CHECK(reader.read(part, at + piece < text.size()).value() == part.size());
  }
  REQUIRE(reader.is_complete());
  return reader.take();
}
boost::json::value read(std::string_view text, std::size_t piece) {
  json_reader reader;
  return read(reader, text, piece);
}

std::string members(std::size_t from, std::size_t to, std::string_view value) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += fmt::format("{}\"k{}\":{}", i == from ? "" : ",", i, value);
  return out;
}

}  // namespace

TEST_SUITE("common/text/json_reader") {
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

  TEST_CASE("items are given away one by one, with what each has lost, and are not in the list") {
    const std::size_t most = json_reader::most_members;
    const auto object = [&](std::size_t more) {
      return fmt::format(R"({{"metadata":{{"labels":{{{}}},"annotations":{{{}}}}},"items":[1]}})",
                         members(0, most + more, R"("v")"), members(0, most + 2 * more, "{\"deep\":[{}]}"));
    };
    const std::string text = fmt::format(
        R"({{"kind":"List","items":[{},[1,[2]],{},7,"text",null,{}],"metadata":{{"items":[3]}}}})", object(0),
        object(5), object(7));
    for (const std::size_t piece : {text.size(), std::size_t(1), std::size_t(1000)}) {
      std::vector<boost::json::value> items;
      std::vector<std::size_t> lost;
      json_reader reader([&](boost::json::value item, std::size_t left_out) {
        items.push_back(std::move(item));
        lost.push_back(left_out);
      });
      CHECK(boost::json::serialize(read(reader, text, piece)) ==
            R"({"kind":"List","items":[],"metadata":{"items":[3]}})");
      CHECK(reader.members_left_out() == 0);
      CHECK(lost == std::vector<std::size_t>{0, 0, 15, 0, 0, 0, 21});
      CHECK(items[0] == boost::json::parse(object(0)));
      CHECK(boost::json::serialize(items[1]) == "[1,[2]]");
      CHECK(items[2] == boost::json::parse(object(0)));
      CHECK(items[3] == 7);
      CHECK(items[4] == "text");
      CHECK(items[5].is_null());
    }
    // What it has lost itself is counted as before.
    json_reader whole;
    (void)read(whole, object(4), 100);
    CHECK(whole.members_left_out() == 12);
    (void)read(whole, object(0), 100);
    CHECK(whole.members_left_out() == 0);
  }

  TEST_CASE("items that are no array, or not the value's own, are members as others") {
    std::size_t given = 0;
    json_reader reader([&](const boost::json::value&, std::size_t) { ++given; });
    for (const std::string_view text :
         {R"({"items":{"items":[1]}})", R"({"items":null,"a":[{"items":[1]}]})", "[[1]]"})
      CHECK(boost::json::serialize(read(reader, text, 1)) == text);
    CHECK(given == 0);
  }

  TEST_CASE("of many objects in one text so many members are kept in all, and what follows them is read") {
    std::string text = R"({"a":[)";
    for (int i = 0; i < 100; ++i) text += fmt::format("{}{{{}}}", i == 0 ? "" : ",", members(0, 500, "1"));
    const auto got = read_json(text + "],\"b\":1}").value();
    const auto& all = got.at("a").as_array();
    CHECK(all.size() == 100);
    std::size_t kept = 0;
    for (const auto& one : all) kept += one.as_object().size();
    CHECK(kept == 16'384 - 1);
    CHECK_FALSE(got.as_object().contains("b"));
  }

  TEST_CASE("defect: elements of lists had no bound, so that lists in lists took 35 ms for each MiB") {
    constexpr std::size_t most = 16'384;
    for (const std::string_view element : {"1", "1.5", "18446744073709551615", "true", "null", R"("text")",
                                           "[]", "{}", R"([[1],{"a":[2]}])", R"({"a":[1,1]})"}) {
      CAPTURE(element);
      std::string text = R"({"a":[)";
      for (std::size_t i = 0; i < most + 3; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", element);
      const auto got = read_json(text + "],\"b\":{\"c\":[1,[2]],\"d\":\"kept\"}}").value();
      const auto& all = got.at("a").as_array();
      CHECK(all.size() <= most);
      CHECK(all.front() == boost::json::parse(element));
      std::size_t lists = 0;
      for (const auto& one : all) lists += one.is_array() ? one.as_array().size() : 0;
      CHECK(all.size() + lists <= most);
      // What follows is read, but for the elements of its lists.
      CHECK(boost::json::serialize(got.at("b")) == R"({"c":[],"d":"kept"})");
    }
    std::string deep;
    for (int i = 0; i < 5'000; ++i)
      deep += (i == 0 ? "" : ",") + std::string(100, '[') + std::string(100, ']');
    std::size_t kept = 0;
    const auto count = [&kept](const auto& self, const boost::json::value& v) -> void {
      for (const auto& one : v.as_array()) {
        ++kept;
        self(self, one);
      }
    };
    const auto whole = read_json("[" + deep + "]").value();
    count(count, whole);
    CHECK(kept == most);
  }

  TEST_CASE("elements beyond the most are left out in whatever pieces they come, and counted") {
    const std::string text =
        R"({"a":[1,"two",[3,4],{"five":[5]},"six \u00e4",[7,[8]],{"n":{"i":[9]}},-1.5,null,true],"b":"","c":[[]]})";
    const std::string kept = R"({"a":[1,"two",[3,4],{"five":[]}],"b":"","c":[]})";
    for (const std::size_t piece : {text.size(), std::size_t(1), std::size_t(3)}) {
      json_reader reader(nullptr, {}, 6);
      CHECK(boost::json::serialize(read(reader, text, piece)) == kept);
      CHECK(reader.members_left_out() == 8);
      CHECK(boost::json::serialize(read(reader, "[1,2]", piece)) == "[1,2]");
    }
  }

  TEST_CASE("a text is one value") {
    CHECK(read_json(R"({"a":[1]} )").value() == boost::json::parse(R"({"a":[1]})"));
    CHECK(read_json("{} x").error().message == "more follows behind it");
    CHECK(read_json(R"({"a":1)").has_error());
    CHECK(read_json("").has_error());
  }
}

}  // namespace json_reader_test
