#include "tests/bench/power/curves_file.hpp"

#include "aggregator/predict/curve.hpp"
#include "common/system/read_file.hpp"
#include "common/text/load_yaml.hpp"
#include "common/text/read_number.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace binnacle::bench {
namespace {

constexpr std::size_t points = 11;  // idle, 10, 20 … 100 %
constexpr std::size_t most_bytes = 16u << 20;
constexpr double most_cores = 4096;
constexpr double most_servers = 1000;  // of one kind
constexpr double measured_dip = 0.05;  // by how much watts may fall as the load rises

error wrong(const std::string& place, std::string_view what) {
  return error{errc::invalid_input, fmt::format("{}: {}", place, what)};
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

result<double> number_of(const std::string& place, std::string_view text) {
  const std::string_view word = without_blanks(text);
  const auto out = read_number<double>(word);
  if (!out) return wrong(place, fmt::format("'{}' is no number", word));
  return *out;
}

/// A CSV field without its quotes; two quotes within it stand for one.
std::string unquoted(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string out;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    out += field[i];
    if (field.substr(i, 2) == "\"\"" && i + 2 < field.size()) ++i;
  }
  return out;
}

/// A curve lifts watts that fall, so a typing error at idle would make a server free of charge up to there.
std::string fall_of(const std::vector<double>& watts) {
  for (std::size_t i = 1; i < watts.size(); ++i) {
    if (watts[i] < (1 - measured_dip) * watts[i - 1]) {
      return fmt::format("the watts fall from {} to {} at {} % of the load: a server's rise with its load",
                         watts[i - 1], watts[i], 100 * i / (watts.size() - 1));
    }
  }
  return {};
}

/// Adds a server that makes sense.
result<void> add(const std::string& place, server s, std::vector<server>& out) {
  if (s.name.empty()) return wrong(place, "the server has no name");
  if (std::ranges::any_of(out, [&s](const server& other) { return other.name == s.name; }))
    return wrong(place, fmt::format("{} is there twice", s.name));
  if (!(s.cores > 0 && s.cores <= most_cores))
    return wrong(
        place, fmt::format("{} has {} cores: give more than 0, and {} at most", s.name, s.cores, most_cores));
  if (s.watts.size() != points) {
    return wrong(place, fmt::format("{} has {} watts: give {}, at idle, 10, 20 to 100 % of the load", s.name,
                                    s.watts.size(), points));
  }
  if (!(s.count > 0 && static_cast<double>(s.count) <= most_servers))
    return wrong(place, fmt::format("{} is there {} times: give 1 to {}", s.name, s.count, most_servers));
  if (const std::string fault = fall_of(s.watts); !fault.empty())
    return wrong(place, fmt::format("{}: {}", s.name, fault));
  if (const auto curve = predict::curve::through(s.watts, s.cores); curve.has_error())
    return wrong(place, fmt::format("{}: {}", s.name, curve.error().message));
  out.push_back(std::move(s));
  return {};
}

/// A line of CSV; the last twelve fields are numbers.
result<server> server_of_line(const std::string& place, std::string_view line) {
  std::vector<std::string_view> numbers;
  while (numbers.size() < points + 1) {
    const auto comma = line.rfind(',');
    if (comma == line.npos) {
      return wrong(place, fmt::format("{} fields: give a name, cores, and watts at idle, 10, 20 to 100 % of "
                                      "the load, {} in all",
                                      numbers.size() + 1, points + 2));
    }
    numbers.push_back(line.substr(comma + 1));
    line = line.substr(0, comma);
  }
  std::ranges::reverse(numbers);
  server out;
  out.name = unquoted(without_blanks(line));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto value = number_of(place, numbers[i]);
    if (value.has_error()) return value.error();
    if (i == 0)
      out.cores = *value;
    else
      out.watts.push_back(*value);
  }
  return out;
}

result<std::vector<server>> of_csv(const std::string& file, const std::string& text) {
  std::vector<server> out;
  constexpr std::string_view mark = "\xef\xbb\xbf";  // spreadsheets write one before UTF-8
  std::istringstream lines(text.starts_with(mark) ? text.substr(mark.size()) : text);
  std::size_t at = 0;
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    const std::string place = fmt::format("{}:{}", file, ++at);
    const std::string_view words = without_blanks(line);
    if (words.empty() || words.starts_with('#')) continue;
    const bool title = first && words.starts_with("name");
    first = false;
    if (title) continue;
    auto read = server_of_line(place, words);
    if (read.has_error()) return read.error();
    if (const auto added = add(place, std::move(*read), out); added.has_error()) return added.error();
  }
  return out;
}

result<server> server_of_node(const std::string& place, const YAML::Node& node) {
  if (!node.IsMap()) return wrong(place, "no map of name, cores and watts");
  const auto scalar = [&node](const char* key) {
    const YAML::Node value = node[key];
    return value && value.IsScalar() ? value.Scalar() : std::string();
  };
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
    if (key != "name" && key != "cores" && key != "watts" && key != "count")
      return wrong(place, fmt::format("'{}' is not known: there are name, count, cores and watts", key));
  }
  server out;
  out.name = scalar("name");
  const auto cores = number_of(place + ", cores", scalar("cores"));
  if (cores.has_error()) return cores.error();
  out.cores = *cores;
  if (node["count"]) {
    const auto count = read_number<std::size_t>(scalar("count"));
    if (!count) return wrong(place, fmt::format("count: '{}' is no whole number", scalar("count")));
    out.count = *count;
  }
  const YAML::Node watts = node["watts"];
  if (!watts || !watts.IsSequence()) return wrong(place, "watts is no list");
  for (const auto& w : watts) {
    const auto value = number_of(place + ", watts", w.IsScalar() ? w.Scalar() : std::string());
    if (value.has_error()) return value.error();
    out.watts.push_back(*value);
  }
  return out;
}

result<std::vector<server>> of_yaml(const std::string& file, const std::string& text) {
  std::vector<server> out;
  try {
    const YAML::Node all = load_yaml(text);
    if (!all.IsSequence()) return wrong(file, "no list of servers: each is {name, cores, watts: [...]}");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const YAML::Node one = all[i];
      const std::string place = fmt::format("{}:{}", file, one.Mark().line + 1);
      auto read = server_of_node(place, one);
      if (read.has_error()) return read.error();
      if (const auto added = add(place, std::move(*read), out); added.has_error()) return added.error();
    }
  } catch (const YAML::Exception& e) {
    return wrong(fmt::format("{}:{}", file, e.mark.line + 1), e.msg);
  }
  return out;
}

}  // namespace

result<std::vector<server>> parse_servers(const std::string& file, const std::string& text) {
  const bool csv = file.ends_with(".csv");
  if (!csv && !file.ends_with(".yaml") && !file.ends_with(".yml"))
    return wrong(file, "is it YAML or CSV? Give it a name that ends in .yaml or .csv");
  auto out = csv ? of_csv(file, text) : of_yaml(file, text);
  if (out.has_value() && out->empty()) return wrong(file, "holds no server");
  return out;
}

result<std::vector<server>> read_servers(const std::string& file) {
  const auto text = read_file(file, most_bytes);
  if (text.has_error())
    return error{text.error().code, fmt::format("{} cannot be read: {}", file, text.error().message)};
  return parse_servers(file, *text);
}

}  // namespace binnacle::bench
