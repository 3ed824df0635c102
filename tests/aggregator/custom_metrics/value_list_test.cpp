#include "aggregator/custom_metrics/value_list.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>

namespace value_list_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// 2026-01-01T00:00:00Z.
const std::chrono::system_clock::time_point new_year{seconds(1'767'225'600)};

/// A short list, which is one piece.
std::string text_of(value_list&& list) {
  const auto pieces = list.take();
  REQUIRE(pieces.size() == 1);
  return pieces.front();
}
std::string text_of(value_list& list) { return text_of(std::move(list)); }

}  // namespace

TEST_SUITE("aggregator/custom_metrics/value_list") {
  TEST_CASE("v1beta1 has metricName, window and selector at the end") {
    value_list list(version::v1beta1, "power", "null", 2);
    list.add("n1", decimal{1235, -1}, new_year, seconds(60));
    list.add("n2", decimal{0, -1}, new_year + milliseconds(1999), {});
    CHECK(text_of(list) ==
          R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","metadata":{},"items":[)"
          R"({"describedObject":{"kind":"Node","name":"n1","apiVersion":"/v1"},"metricName":"power",)"
          R"("timestamp":"2026-01-01T00:00:00Z","window":60,"value":"123500m","selector":null},)"
          R"({"describedObject":{"kind":"Node","name":"n2","apiVersion":"/v1"},"metricName":"power",)"
          R"("timestamp":"2026-01-01T00:00:01Z","value":"0","selector":null}]})"
          "\n");
  }

  TEST_CASE("v1beta2 has metric{name,selector} and windowSeconds") {
    value_list list(version::v1beta2, "power", R"({"matchLabels":{"zone":"a"}})", 1);
    list.add("n1", decimal{1235, -1}, new_year, seconds(60));
    CHECK(
        text_of(list) ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},"items":[)"
        R"({"describedObject":{"kind":"Node","name":"n1","apiVersion":"/v1"},"metric":{"name":"power",)"
        R"("selector":{"matchLabels":{"zone":"a"}}},"timestamp":"2026-01-01T00:00:00Z","windowSeconds":60,"value":"123500m"}]})"
        "\n");
  }

  TEST_CASE("without values the items are an empty list, never null") {
    CHECK(
        text_of(value_list(version::v1beta1, "m", "null", 0)) ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","metadata":{},"items":[]})"
        "\n");
  }

  TEST_CASE("a window shorter than a second counts as one, never as none") {
    value_list list(version::v1beta2, "m", "null", 1);
    list.add("n", decimal{1, 0}, new_year, milliseconds(200));
    CHECK(text_of(list).find(R"("windowSeconds":1,)") != std::string::npos);
  }

  TEST_CASE("the metric and the node are escaped, values are Quantities") {
    value_list list(version::v1beta1, "a\"b", "null", 1);
    list.add("n\\1", decimal{2'500'000, 3}, new_year - seconds(1), seconds(1));
    const std::string text = text_of(list);
    CHECK(text.find(R"("metricName":"a\"b")") != std::string::npos);
    CHECK(text.find(R"("name":"n\\1")") != std::string::npos);
    CHECK(text.find(R"("value":"2500M")") != std::string::npos);
    CHECK(text.find(R"("timestamp":"2025-12-31T23:59:59Z")") != std::string::npos);
  }
}

}  // namespace value_list_test
