#include "tests/support/machine/powercap_sim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace binnacle::support {
namespace {

// The part's share of its package's watts; dram is metered separately. After published measurements of
// servers under mixed load.
double share_of(const std::string& part) {
  if (part == "core") return 0.7;
  if (part == "uncore") return 0.1;
  if (part == "dram") return 0.12;
  return 0.05;
}

constexpr double board_watts = 35;  // fans, disks, losses: only psys includes them

}  // namespace

powercap_sim::powercap_sim(std::string root, std::vector<zone_spec> zones, double watts_per_package,
                           double noise, std::uint32_t seed)
    : root_(std::move(root)), noise_(noise), random_(seed) {
  write_powercap_tree(root_, zones);
  std::vector<unsigned> numbers;
  add(zones, numbers, "");
  for (auto& c : counters_) c.watts = watts_per_package;
}

void powercap_sim::add(const std::vector<zone_spec>& zones, std::vector<unsigned>& numbers,
                       const std::string& package) {
  unsigned next = 0;
  for (const auto& z : zones) {
    const auto number = z.index.value_or(next);
    next = number + 1;
    numbers.push_back(number);
    const auto owner = package.empty() && z.name.starts_with("package-") ? z.name : package;
    const auto file = root_ + "/" + zone_folder(numbers) + "/energy_uj";
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) throw std::runtime_error("cannot write " + file);
    counters_.push_back({.fd = fd,
                         .name = z.name,
                         .package = owner,
                         .uj = static_cast<double>(z.energy_uj),
                         .range_uj = static_cast<double>(z.range_uj)});
    add(z.parts, numbers, owner);
    numbers.pop_back();
  }
}

bool powercap_sim::set_watts(std::string_view text) {
  struct wish {
    std::string name;
    double watts = 0;
    std::optional<bool> stopped;
  };
  std::vector<wish> wanted;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string line(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    for (auto& c : line) {
      if (c == '=') c = ' ';
    }
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const auto blank = line.rfind(' ');
    const auto number = blank == line.npos ? line : line.substr(blank + 1);
    const auto name = blank == line.npos ? std::string() : line.substr(0, blank);
    if (number == "stop" || number == "go") {
      wanted.push_back({name, 0, number == "stop"});
      continue;
    }
    char* rest = nullptr;
    const double watts = std::strtod(number.c_str(), &rest);
    if (number.empty() || *rest != '\0' || !(watts >= 0 && watts < 1e5)) return false;
    wanted.push_back({name, watts, std::nullopt});
  }
  for (const auto& w : wanted) {
    for (auto& c : counters_) {
      if (w.stopped) {
        if (w.name.empty() || c.name == w.name) c.stopped = *w.stopped;
      } else if (w.name.empty() || c.package == w.name) {
        c.watts = w.watts;
      }
    }
  }
  return !wanted.empty();
}

void powercap_sim::advance(duration by) {
  const double seconds = std::chrono::duration<double>(by).count();
  double board = board_watts;
  for (auto& c : counters_) {
    if (c.package.empty()) continue;
    const bool whole = c.name == c.package;
    c.now = c.watts * (whole ? 1 : share_of(c.name)) * std::max(0.0, 1 + noise_ * normal_(random_));
    if (whole || c.name == "dram") board += c.now;
  }
  for (auto& c : counters_) {
    if (c.package.empty()) c.now = board;
    if (c.stopped) continue;
    c.uj = std::fmod(c.uj + c.now * seconds * 1e6, c.range_uj);
    write(c);
  }
}

// Written in place, since the agent holds the file open. After a counter wraps, its number is shorter than
// before. Then line ends overwrite the remaining digits, so that a reader never finds an empty file.
void powercap_sim::write(const counter& c) {
  const auto text = fmt::format("{:\n<20}", fmt::format("{:.0f}\n", c.uj));
  if (::pwrite(c.fd, text.data(), text.size(), 0) < 0)
    throw std::runtime_error("cannot write an energy counter");
}

powercap_sim::~powercap_sim() {
  for (const auto& c : counters_) ::close(c.fd);
}

}  // namespace binnacle::support
