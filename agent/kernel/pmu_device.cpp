#include "agent/kernel/pmu_device.hpp"

#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

// "0x1f", "31".
std::optional<std::uint64_t> parse_value(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  return read_number<std::uint64_t>(text, base);
}

std::uint64_t* word_of(perf_encoding& out, unsigned word) {
  return word == 0 ? &out.config : word == 1 ? &out.config1 : &out.config2;
}

std::optional<unsigned> word_named(std::string_view name) {
  if (name == "config") return 0;
  if (name == "config1") return 1;
  if (name == "config2") return 2;
  return std::nullopt;
}

// The names of the event files in a folder. Files that end in .scale, .unit, .snapshot or .per-pkg are left
// out: they describe another file's event.
std::vector<std::string> event_files_in(const std::string& folder) {
  auto names = names_in(folder);
  std::erase_if(names, [](std::string_view name) {
    return name.ends_with(".scale") || name.ends_with(".unit") || name.ends_with(".snapshot") ||
           name.ends_with(".per-pkg");
  });
  return names;
}

}  // namespace

std::optional<pmu_format> parse_pmu_format(std::string_view text) {
  text = trimmed(text);
  const auto colon = text.find(':');
  const auto word = word_named(text.substr(0, colon));
  if (colon == text.npos || !word) return std::nullopt;
  auto bits = parse_ranges(text.substr(colon + 1), 63);
  if (!bits) return std::nullopt;
  return pmu_format{*word, *std::move(bits)};
}

bool put_term(const pmu_format& format, std::uint64_t value, perf_encoding& out) {
  auto& word = *word_of(out, format.word);
  for (const auto& [first, last] : format.where) {
    const unsigned width = last - first + 1;
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    word = (word & ~(mask << first)) | ((value & mask) << first);
    value = width == 64 ? 0 : value >> width;
  }
  return value == 0;
}

pmu_device::pmu_device(std::string folder, std::uint32_t type)
    : folder_(std::move(folder)),
      name_(fs::path(folder_).filename().string()),
      type_(type),
      box_cpus_(read_cpu_list(folder_ + "/cpumask")),
      core_cpus_(read_cpu_list(folder_ + "/cpus")) {}

std::vector<std::string> pmu_device::alias_names() const { return event_files_in(folder_ + "/events"); }
std::vector<std::string> pmu_device::format_names() const { return names_in(folder_ + "/format"); }

std::optional<pmu_alias> pmu_device::alias(const std::string& name) const {
  // A name from the configuration must not lead out of the folder.
  if (name.empty() || name.find('/') != name.npos) return std::nullopt;
  const auto file = folder_ + "/events/" + name;
  const auto terms = read_line(file);
  if (!terms || terms->empty()) return std::nullopt;
  pmu_alias found{*terms, std::nullopt, read_line(file + ".unit").value_or("")};
  if (const auto scale = read_line(file + ".scale")) {
    found.scale = read_number<double>(*scale);
    if (!found.scale) return std::nullopt;
  }
  return found;
}

std::optional<pmu_format> pmu_device::format(const std::string& name) const {
  if (name.empty() || name.find('/') != name.npos) return std::nullopt;
  const auto text = read_line(folder_ + "/format/" + name);
  return text ? parse_pmu_format(*text) : std::nullopt;
}

result<void> pmu_device::put(std::string_view term, bool aliases_too, perf_encoding& out) const {
  const auto equals = term.find('=');
  const std::string name(trimmed(term.substr(0, equals)));
  if (equals == term.npos && aliases_too) {
    if (const auto known = alias(name)) {
      std::string_view rest = known->terms;
      while (!rest.empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        if (auto done = put(rest.substr(0, comma), false, out); !done) return done;
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
      return {};
    }
  }
  const auto value =
      equals == term.npos ? std::optional<std::uint64_t>(1) : parse_value(term.substr(equals + 1));
  if (!value) {
    return error{errc::invalid_input,
                 fmt::format("\"{}\" of {}: write a number, as 12 or 0x0c", term, name_)};
  }
  if (const auto word = word_named(name)) {
    *word_of(out, *word) = *value;
    return {};
  }
  const auto where = format(name);
  if (!where) {
    return error{errc::invalid_input, fmt::format("{} has no term or event \"{}\": its terms are {}", name_,
                                                  name, fmt::join(format_names(), ", "))};
  }
  if (!put_term(*where, *value, out)) {
    return error{errc::invalid_input, fmt::format("\"{}\" is too large for {}'s {}", term, name_, name)};
  }
  return {};
}

result<perf_encoding> pmu_device::encode(std::string_view terms) const {
  perf_encoding out{.type = type_};
  if (trimmed(terms).empty()) {
    return error{errc::invalid_input, fmt::format("{} is given no event: write {}/event/", name_, name_)};
  }
  while (!terms.empty()) {
    const auto comma = std::min(terms.find(','), terms.size());
    if (auto done = put(terms.substr(0, comma), true, out); !done) return done.error();
    terms.remove_prefix(std::min(comma + 1, terms.size()));
  }
  return out;
}

std::vector<pmu_device> find_pmu_devices(const std::string& sys_root) {
  std::vector<pmu_device> found;
  const auto devices = sys_root + "/bus/event_source/devices";
  for (const auto& name : names_in(devices)) {
    const auto folder = devices + "/" + name;
    const auto text = read_line(folder + "/type");
    const auto type = text ? parse_unsigned(*text) : std::nullopt;
    if (type && *type <= 0xffff'ffff) found.emplace_back(folder, static_cast<std::uint32_t>(*type));
  }
  return found;
}

}  // namespace binnacle::agent
