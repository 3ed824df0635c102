// Writes a day of readings as the aggregator would send them, within a moment: the core gets the time as an
// argument.
//   sender-day PROTOCOL END FOLDER
// PROTOCOL is remote-write-2, remote-write-1 or otlp. END is the end of the day in Unix seconds. The program
// writes into FOLDER: `headers` (NAME: VALUE), `bodies` (each preceded by its length: four bytes, the lowest
// first) and `values` (FAMILY NODE MILLISECONDS DIGITS).
#include "aggregator/sender/dialect.hpp"
#include "aggregator/store/row.hpp"
#include "aggregator/store/shape.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string_view>

namespace {

using namespace binnacle;
using namespace binnacle::sender;

constexpr std::int64_t day_s = 86'400, period_s = 60;

struct kind_of_series {
  const char* family;
  std::int8_t exponent;
  std::int64_t most;  // the largest mantissa
};
// The values have few and many digits, are large and small, negative and zero.
constexpr std::array<kind_of_series, 5> kinds{{{"day_watts", -1, 40'000},
                                               {"day_micro", -6, 1'000'000},
                                               {"day_whole", 0, 9'007'199'254'740'991},
                                               {"day_fine", -9, 999'999'999'999'999},
                                               {"day_large", 3, 1'000'000'000}}};

const dialect* dialect_called(std::string_view name) {
  if (name == "otlp") return &dialect_of(protocol::otlp);
  if (name == "remote-write-2") return &dialect_of(protocol::remote_write);
  if (name == "remote-write-1") return dialect_of(protocol::remote_write).older;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const dialect* const speaks = argc == 4 ? dialect_called(argv[1]) : nullptr;
  if (speaks == nullptr) {
    std::cerr << "usage: sender-day remote-write-2|remote-write-1|otlp END FOLDER\n";
    return 2;
  }
  const std::int64_t begin_s = std::atoll(argv[2]) - day_s;
  const std::filesystem::path folder(argv[3]);
  std::ofstream bodies(folder / "bodies", std::ios::binary), values(folder / "values"),
      headers(folder / "headers");
  for (const auto& [name, value] : speaks->headers) headers << name << ": " << value << '\n';

  store::catalog_builder announced;
  announced.group("day", 3'600'000);
  for (const auto& k : kinds) announced.series(k.family, {}, k.exponent);
  const auto shape = std::make_shared<const store::shape>(store::make_shape(announced, {}).value().what);
  std::vector<std::shared_ptr<store::row>> rows;
  fleet nodes;
  for (const char* name : {"north", "south"}) {
    rows.push_back(std::make_shared<store::row>(shape));
    nodes.push_back({name, rows.back()});
  }
  std::mt19937_64 dice(7);
  cursor unsaid({});
  unsaid.begin(store::at_s(0));
  const auto request = speaks->encode({});
  for (std::int64_t s = period_s; s <= day_s; s += period_s) {
    for (std::size_t n = 0; n < rows.size(); ++n) {
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        std::uniform_int_distribution<std::int64_t> any(-kinds[i].most, kinds[i].most);
        const std::int64_t mantissa = any(dice);
        rows[n]->set_value(i, mantissa);
        values << fmt::format("{} {} {} {}\n", kinds[i].family, nodes[n].name, (begin_s + s) * 1000,
                              to_string(decimal{mantissa, kinds[i].exponent}));
      }
      rows[n]->set_read(0, store::at_s(static_cast<double>(s)));
    }
    unsaid.take(nodes, store::at_s(static_cast<double>(s)),
                [&](const point& p) { request->add(p, begin_s * 1'000'000'000 + to_ns(p.at)); });
    const std::string body = request->take();
    for (int shift = 0; shift < 32; shift += 8) bodies.put(static_cast<char>(body.size() >> shift & 0xff));
    bodies << body;
  }
  return bodies.flush() && values.flush() && headers.flush() ? 0 : 1;
}
