#include "agent/sources/os/proc_text.hpp"

#include "common/text/read_number.hpp"

#include <charconv>
#include <iterator>
#include <system_error>

namespace binnacle::agent::proc {
namespace {

// Removes the next line from `text` and returns it without its line end.
std::string_view next_line(std::string_view& text) noexcept {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return line;
}

constexpr bool blank(char c) noexcept { return c == ' ' || c == '\t'; }

// Removes the next word from `line` and returns it; empty at the end. Words are a few characters long, so a
// loop costs less than find_first_of, which calls memchr(3) for each character.
std::string_view next_word(std::string_view& line) noexcept {
  const char* const end = line.data() + line.size();
  const char* first = line.data();
  while (first != end && blank(*first)) ++first;
  const char* last = first;
  while (last != end && !blank(*last)) ++last;
  line = {last, end};
  return {first, last};
}

// Removes the next word and returns it as a number. The digits are parsed in the same pass, since most of
// /proc is numbers.
std::optional<std::uint64_t> next_count(std::string_view& line) noexcept {
  const char* const end = line.data() + line.size();
  const char* first = line.data();
  while (first != end && blank(*first)) ++first;
  std::uint64_t value = 0;
  const auto [behind, bad] = std::from_chars(first, end, value);
  line = {behind, end};
  if (bad == std::errc{} && (behind == end || blank(*behind))) return value;
  next_word(line);  // skip the rest of a word that is no number
  return std::nullopt;
}

// The number 12 in "cpu12".
std::optional<unsigned> cpu_number(std::string_view word) noexcept {
  return word.starts_with("cpu") ? read_number<unsigned>(word.substr(3)) : std::nullopt;
}

// The numbers behind "cpu" or "cpu12" on a line of /proc/stat. The oldest kernels give none after idle.
std::optional<cpu_ticks> ticks_of(std::string_view line) noexcept {
  cpu_ticks t;
  std::size_t got = 0;
  for (auto& m : t.mode) {
    const auto ticks = next_count(line);
    if (!ticks) break;
    m = *ticks;
    ++got;
  }
  if (got < 4) return std::nullopt;
  return t;
}

}  // namespace

std::uint64_t cpu_ticks::total() const noexcept {
  std::uint64_t sum = 0;
  for (const auto m : mode) sum += m;
  return sum;
}

std::optional<stat> parse_stat(std::string_view text) noexcept {
  stat s;
  bool has_cpu = false;
  while (!text.empty()) {
    auto line = next_line(text);
    const auto key = next_word(line);
    if (key == "cpu") {
      const auto ticks = ticks_of(line);
      if (!ticks) return std::nullopt;
      s.all = *ticks;
      has_cpu = true;
    } else if (cpu_number(key)) {
      ++s.cpus;
    } else if (key == "ctxt") {
      s.context_switches = next_count(line);
    } else if (key == "procs_running") {
      s.running = next_count(line);
    }
  }
  if (!has_cpu) return std::nullopt;
  return s;
}

void parse_cpus(std::string_view stat, std::vector<one_cpu>& out) {
  out.clear();
  while (!stat.empty()) {
    auto line = next_line(stat);
    const auto cpu = cpu_number(next_word(line));
    if (!cpu) continue;
    if (const auto ticks = ticks_of(line)) out.push_back({*cpu, *ticks});
  }
}

std::optional<double> utilization(const cpu_ticks& before, const cpu_ticks& after) noexcept {
  std::uint64_t all = 0;
  std::uint64_t idle = 0;
  for (std::size_t i = 0; i < after.mode.size(); ++i) {
    const auto used = after.mode[i] > before.mode[i] ? after.mode[i] - before.mode[i] : 0;
    all += used;
    if (i == 3 || i == 4) idle += used;
  }
  if (all == 0) return std::nullopt;
  return static_cast<double>(all - idle) / static_cast<double>(all);
}

std::optional<std::array<double, 3>> parse_loadavg(std::string_view text) noexcept {
  auto line = next_line(text);
  std::array<double, 3> load{};
  for (auto& l : load) {
    const auto value = read_number<double>(next_word(line));
    if (!value) return std::nullopt;
    l = *value;
  }
  return load;
}

std::optional<std::uint64_t> meminfo::used() const noexcept {
  if (!total || !free || !buffers || !cached || !slab_reclaimable || !slab_unreclaimable) return std::nullopt;
  const auto rest = *free + *buffers + *cached + *slab_reclaimable + *slab_unreclaimable;
  if (rest > *total) return std::nullopt;
  return *total - rest;
}

std::optional<meminfo> parse_meminfo(std::string_view text) noexcept {
  struct field {
    std::string_view key;
    std::optional<std::uint64_t> meminfo::*where;
  };
  constexpr field fields[] = {
      {"MemTotal:", &meminfo::total},
      {"MemAvailable:", &meminfo::available},
      {"MemFree:", &meminfo::free},
      {"Buffers:", &meminfo::buffers},
      {"Cached:", &meminfo::cached},
      {"SReclaimable:", &meminfo::slab_reclaimable},
      {"SUnreclaim:", &meminfo::slab_unreclaimable},
      {"SwapTotal:", &meminfo::swap_total},
      {"SwapFree:", &meminfo::swap_free},
  };
  meminfo m;
  // Stops when all fields are found: they are in the first half of the text.
  for (auto wanted = std::size(fields); wanted > 0 && !text.empty();) {
    auto line = next_line(text);
    const auto key = next_word(line);
    for (const auto& f : fields) {
      if (key != f.key) continue;
      --wanted;
      if (const auto kilobytes = next_count(line); kilobytes && *kilobytes < UINT64_MAX / 1024)
        m.*f.where = *kilobytes * 1024;
      break;
    }
  }
  if (!m.total) return std::nullopt;
  return m;
}

bool parse_net_dev(std::string_view text, std::vector<interface>& out) {
  out.clear();
  next_line(text);
  if (next_line(text).find("bytes") == std::string_view::npos) return false;
  while (!text.empty()) {
    auto line = next_line(text);
    // The last colon ends the name, because an alias may contain one ("eth0:1"). A large counter may follow
    // the colon directly.
    const auto colon = line.rfind(':');
    if (colon == line.npos) continue;
    auto name = line.substr(0, colon);
    line.remove_prefix(colon + 1);
    interface i {
      next_word(name), 0, 0, 0, 0, 0, 0, 0, 0
    };
    std::array<std::uint64_t, 12> column{};  // the first 12 of 16 columns
    std::size_t got = 0;
    for (auto& c : column) {
      const auto value = next_count(line);
      if (!value) break;
      c = *value;
      ++got;
    }
    if (got < column.size() || i.name.empty()) continue;
    i.receive_bytes = column[0];
    i.receive_packets = column[1];
    i.receive_errors = column[2];
    i.receive_dropped = column[3];
    i.transmit_bytes = column[8];
    i.transmit_packets = column[9];
    i.transmit_errors = column[10];
    i.transmit_dropped = column[11];
    out.push_back(i);
  }
  return true;
}

std::optional<pressure> parse_pressure(std::string_view text) noexcept {
  std::optional<std::uint64_t> some;
  std::optional<std::uint64_t> full;
  while (!text.empty()) {
    auto line = next_line(text);
    const auto key = next_word(line);
    constexpr std::string_view total = " total=";
    const auto at = line.find(total);
    if (at == line.npos) continue;
    line.remove_prefix(at + total.size());
    if (key == "some") some = next_count(line);
    if (key == "full") full = next_count(line);
  }
  if (!some) return std::nullopt;
  return pressure{*some, full};
}

std::optional<double> parse_uptime(std::string_view text) noexcept {
  return read_number<double>(next_word(text));
}

}  // namespace binnacle::agent::proc
