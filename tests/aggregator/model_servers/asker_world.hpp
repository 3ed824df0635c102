#pragma once

#include "aggregator/model_servers/asker.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// An asker, and what model servers answer it.
namespace binnacle::model_servers::test {

using namespace std::chrono_literals;

inline question about(const std::string& server, const std::string& model, double inlet = 22) {
  question q;
  q.model = *v2_model("http://" + server + "/v2/models/" + model + "/infer");
  q.cores = 10;
  q.others = {inlet, 5, 0};
  return q;
}

inline http::answer says(unsigned status, std::string body) {
  http::answer a;
  a.status = status;
  a.body = std::move(body);
  return a;
}

inline result<reply> heard(const http::answer& a, const asker::call& c) { return reply_of(a, c.count, ""); }

/// The answer for a machine that draws 100 W when idle and 2 W more for each percent of load.
inline http::answer watts(const asker::call& c) {
  std::string data;
  for (std::size_t i = 0; i < c.count; ++i)
    data += fmt::format("{}{}", i == 0 ? "" : ",", 100 + 2 * (c.first + i));
  return says(200, R"({"outputs":[{"name":"predict","data":[)" + data + "]}]}");
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
    for (const instant until = now + 10min; now < until && calls < 200; pass(1s)) {
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

inline std::uint64_t count(const asker& a, call_outcome o) {
  return a.counted()[static_cast<std::size_t>(o)];
}

}  // namespace binnacle::model_servers::test
