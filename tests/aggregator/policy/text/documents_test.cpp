#include "aggregator/policy/text/documents.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace documents_test {

using namespace binnacle;
using policy::documents_in;

namespace {

/// "line:text" of each document, one after the other.
std::string shown(std::string_view text) {
  std::string out;
  for (const policy::document& d : documents_in(text))
    out += std::to_string(d.first_line) + ":" + std::string(d.text) + "|";
  return out;
}

}  // namespace

TEST_SUITE("aggregator/policy/text/documents") {
  TEST_CASE("documents are told apart by their markers, with the lines in front of them") {
    CHECK(shown("a: 1\n") == "0:a: 1\n|");
    CHECK(shown("a: 1\n---\nb: 2\n") == "0:a: 1\n|1:---\nb: 2\n|");
    CHECK(shown("---\na: 1\n...\n---\nb: 2") == "0:---\na: 1\n...\n|3:---\nb: 2|");
    CHECK(shown("--- a\r\n--- b\r\n") == "0:--- a\r\n|1:--- b\r\n|");
  }

  TEST_CASE("what only looks like a marker is content") {
    CHECK(shown("a: 1\n---b\n") == "0:a: 1\n---b\n|");
    CHECK(shown("a: |\n  ---\n  b\n") == "0:a: |\n  ---\n  b\n|");
  }

  TEST_CASE("a text without content has no document") {
    for (const char* text : {"", " \n", "\r\n", "# all of it\n", "---\n", "---\n---\n", "--- # later\n...\n",
                             "%YAML 1.2\n---\n", "\t\n  # b"}) {
      CAPTURE(text);
      CHECK(documents_in(text).empty());
    }
    for (const char* text : {"[]", "{}", "null", "a # b", "---\n~\n"}) {
      CAPTURE(text);
      CHECK(documents_in(text).size() == 1);
    }
  }

  TEST_CASE("no more are told apart than one too many") {
    std::string text;
    for (std::size_t i = 0; i < policy::most_documents + 100; ++i) text += "---\na: 1\n";
    CHECK(documents_in(text).size() > policy::most_documents);
    CHECK(documents_in(text).size() <= policy::most_documents + 2);
  }
}

}  // namespace documents_test
