// binnacle-power-fleet: fills one fleet of these servers once and prints the result as JSON. Tests that place
// pods on nodes which play the same servers compare with it.
#include "common/config/config.hpp"
#include "common/text/read_number.hpp"
#include "tests/bench/power/curves_file.hpp"
#include "tests/bench/power/one_fleet.hpp"
#include "tests/support/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::bench {
namespace {

struct wanted {
  std::vector<std::string> kinds;
  std::string curves;
  std::int64_t each = 4;
  double pod_cores = 4, load = 0.5, max_load = 1;
  std::vector<std::string> churn;  // cores of pods that come and go; empty: pods of pod_cores that stay
};

/// The sizes of pods that come and go.
result<std::vector<double>> sizes_of(const wanted& w) {
  std::vector<double> out;
  for (const std::string& text : w.churn) {
    const auto cores = read_number<double>(text);
    if (!cores || *cores < 0.1 || *cores > 64)
      return error{errc::invalid_input, fmt::format("churn {}: write cores of pods from 0.1 to 64", text)};
    out.push_back(*cores);
  }
  return out;
}

/// The known servers whose names begin as wanted. From a file: all servers if no name is wanted.
result<std::vector<server>> chosen(const wanted& w) {
  std::vector<server> all(spec_servers().begin(), spec_servers().end());
  if (!w.curves.empty()) {
    auto read = read_servers(w.curves);
    if (read.has_error()) return read.error();
    all = std::move(*read);
  } else if (w.kinds.empty()) {
    return error{errc::invalid_input,
                 "kinds is missing: name some of the servers here, or give a file of your own with curves"};
  }
  const auto unwanted = [&w](const server& s) {
    return std::ranges::none_of(w.kinds, [&s](const std::string& k) { return s.name.starts_with(k); });
  };
  if (!w.kinds.empty()) std::erase_if(all, unwanted);
  if (all.empty())
    return error{errc::invalid_input,
                 fmt::format("no server's name begins with {}", fmt::join(w.kinds, ", "))};
  return all;
}

result<std::string> said_of(const wanted& w) {
  auto kinds = chosen(w);
  if (kinds.has_error()) return kinds.error();
  auto sizes = sizes_of(w);
  if (sizes.has_error()) return sizes.error();
  return filled_once({std::move(*kinds), static_cast<std::size_t>(w.each), w.load, w.max_load, w.pod_cores,
                      std::move(*sizes)});
}

}  // namespace
}  // namespace binnacle::bench

int main(int argc, char** argv) {
  binnacle::bench::wanted w;
  const std::string program = "binnacle-power-fleet";
  binnacle::config_spec spec(program,
                             "Fills a simulated fleet with equal pods and prints its servers, how many pods "
                             "there are, and the fleet's watts when they are spread, placed by WAO's "
                             "second version (which knows no max-load), by the watts that a pod adds, by "
                             "the best chord, and in the best way that there is.",
                             program + " --kinds 'HPE DL380,Lenovo SR650' --each 4 --load 0.5");
  spec.add("kinds", w.kinds, "how the servers' names begin (tests/bench/power/servers.cpp)");
  spec.add("curves", w.curves,
           "a file with servers of your own: YAML or CSV, name, cores, watts at idle, 10, 20 … 100 % of the "
           "load (tests/bench/power/curves_file.hpp). All of them, unless kinds says which");
  spec.add("each", w.each, 1, 100, "servers of each kind; of a file's with a count, so many times the count");
  spec.add("pod-cores", w.pod_cores, 0.1, 64, "cores of a pod");
  spec.add(
      "churn", w.churn,
      "pods of these cores, each as likely, come by chance, live exponentially and go; the watts are then "
      "means over time, and refused says how many find no room. Empty: pods of pod-cores come and stay");
  spec.add("load", w.load, 0, 0.9, "the share of the fleet's cores that the pods ask for");
  spec.add("max-load", w.max_load, 0.1, 1, "the share of a server's cores that pods may take");
  if (const auto status = binnacle::support::read_options(spec, program, argc, argv)) return *status;
  const auto said = binnacle::bench::said_of(w);
  if (said.has_error()) {
    fmt::print(stderr, "{}: {}\n", program, said.error().message);
    return 2;
  }
  fmt::print("{}\n", *said);
}
