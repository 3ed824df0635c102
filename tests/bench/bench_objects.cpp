// What an object of the API server costs to read, where somebody chose its annotations: Boost.JSON finds
// members by FNV-1a, which begins with the address of the object's table, modulo the number of members. The
// lowest bits of an address are easy to guess, so with 2^n members a caller can put all of them into one
// bucket.
#include "aggregator/kube/json.hpp"
#include "common/system/process_cost.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <malloc.h>
#include <string>
#include <vector>

namespace bench_objects {

namespace {

using namespace binnacle;

constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._";
constexpr std::uint64_t prime = 0x100000001B3;

/// `many` keys (a power of two) whose hashes are 0 modulo `many`, for a table at an address that ends in
/// `address`.
std::vector<std::string> colliding(std::size_t many, std::uint64_t address) {
  std::vector<std::string> out;
  const auto next = [](std::uint64_t hash, char c) { return (static_cast<std::uint64_t>(c) ^ hash) * prime; };
  const std::uint64_t begin = 0xcbf29ce484222325 + address;
  for (std::uint64_t n = 0; out.size() < many; ++n) {
    std::string key;
    std::uint64_t hash = begin;
    for (std::uint64_t rest = n, i = 0; i < 5; ++i, rest /= letters.size()) {
      key += letters[rest % letters.size()];
      hash = next(hash, key.back());
    }
    for (const char last : letters) {
      if (out.size() < many && next(hash, last) % many == 0) out.push_back(key + last);
    }
  }
  return out;
}

std::vector<std::string> usual(std::size_t many) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < many; ++i) out.push_back("k" + std::to_string(10'000 + i));
  return out;
}

std::string event_with(const std::vector<std::string>& keys) {
  std::string out =
      R"({"type":"MODIFIED","object":{"metadata":{"name":"web","resourceVersion":"7","annotations":{)";
  for (const std::string& key : keys) out += '"' + key + R"(":"",)";
  out.back() = '}';
  return out + "}}}";
}

double milliseconds_of(const std::string& event) {
  const auto began = own_thread_time();
  kube::object_stream stream;
  const std::function<bool(const boost::json::object&)> each = [&](const boost::json::object& o) {
    benchmark::DoNotOptimize(&o);
    return true;
  };
  stream.feed(event, each).value();
  return std::chrono::duration<double, std::milli>(own_thread_time() - began).count();
}

void BM_object_with_annotations(benchmark::State& state) {
  // Large tables begin 16 bytes behind the start of a page then. Of small ones every address is tried.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  const auto many = static_cast<std::size_t>(state.range(0));
  std::vector<std::string> events;
  if (state.range(1) == 0) {
    events.push_back(event_with(usual(many)));
  } else {
    for (std::size_t address = many <= 1024 ? 0 : 16; address <= (many <= 1024 ? many - 16 : 16);
         address += 16)
      events.push_back(event_with(colliding(many, address)));
  }
  std::vector<double> best(events.size(), 1e9);
  for (auto _ : state) {
    for (std::size_t i = 0; i < events.size(); ++i) best[i] = std::min(best[i], milliseconds_of(events[i]));
  }
  state.counters["bytes"] = static_cast<double>(events.front().size());
  state.counters["worst_ms"] = *std::max_element(best.begin(), best.end());
}
BENCHMARK(BM_object_with_annotations)
    ->ArgNames({"annotations", "chosen"})
    ->ArgsProduct({{512, 4'096, 16'384}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20);

}  // namespace

}  // namespace bench_objects
