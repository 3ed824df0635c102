#include "aggregator/predict/pod_spec.hpp"

#include <doctest/doctest.h>

#include <string>

namespace pod_spec_test {

using namespace binnacle::predict;

// Members beyond json_reader::most_members, whose names somebody chose, cost no more than their bytes.
std::string with_many_labels() {
  std::string out = R"({"metadata":{"labels":{"a":"")";
  for (int i = 0; i < 5'000; ++i) out += R"(,"a)" + std::to_string(i) + R"(":"")";
  return out + R"(}},"spec":{"containers":[{"resources":{"requests":{"cpu":"3"}}}]}})";
}

double cores(const std::string& spec) { return pod_cpu_of(R"({"spec":)" + spec + "}").cores(); }

TEST_SUITE("aggregator/predict/pod_spec") {
  TEST_CASE("requests are read in all forms that the API server writes") {
    CHECK(cores(R"({"containers":[{"resources":{"requests":{"cpu":"250m"}}}]})") == doctest::Approx(0.25));
    CHECK(cores(R"({"containers":[{"resources":{"requests":{"cpu":"2"}}}]})") == doctest::Approx(2));
    CHECK(cores(R"({"containers":[{"resources":{"requests":{"cpu":1.5}}}]})") == doctest::Approx(1.5));
    CHECK(cores(R"({"containers":[{"resources":{"requests":{"cpu":3}}}]})") == doctest::Approx(3));
  }

  TEST_CASE("limits stand for requests, a side-car counts, an init container does not, overhead is added") {
    CHECK(cores(R"({"containers":[{"resources":{"limits":{"cpu":"2"}}}]})") == doctest::Approx(2));
    CHECK(cores(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
                   "initContainers":[{"resources":{"requests":{"cpu":"8"}}},
                                     {"restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}}],
                   "overhead":{"cpu":"250m"}})") == doctest::Approx(1.75));
  }

  TEST_CASE("the pod's own request stands for its containers") {
    CHECK(cores(R"({"containers":[{},{}],"resources":{"requests":{"cpu":"4"}}})") == doctest::Approx(4));
  }

  TEST_CASE("resources without a usable CPU count as a container that names no CPU") {
    for (const char* resources : {R"({})", R"({"requests":{"memory":"1Gi"}})",
                                  R"({"requests":{"cpu":"much"}})", R"({"requests":{"cpu":"-1"}})",
                                  R"({"requests":{"cpu":true}})", R"({"requests":[]})", R"("none")"}) {
      CAPTURE(resources);
      CHECK(cores(R"({"containers":[{"resources":)" + std::string(resources) + "}]}") ==
            doctest::Approx(cores_of_silent_container));
    }
  }

  TEST_CASE("an object that is not a pod asks for nothing") {
    for (const char* text : {"", "{", "[]", "{}", R"({"spec":7})", R"({"spec":{"containers":{}}})", "null",
                             R"({"spec":{"containers":[1,null]}})"}) {
      CAPTURE(text);
      CHECK(pod_cpu_of(std::string_view(text)).cores() == 0);
    }
  }

  TEST_CASE("thousands of labels before it do not hide what a pod asks for") {
    CHECK(pod_cpu_of(with_many_labels()).cores() == 3);
  }
}

}  // namespace pod_spec_test
