#include "agent/sources/scrape/target.hpp"
#include "common/text/load_yaml.hpp"
#include "common/text/read_number.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

namespace binnacle::agent {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::string_view, 5> folds{"none", "sum", "max", "min", "mean"};

/// One key of a target. Its function returns false if the value has the wrong form.
struct key_row {
  std::string_view key;
  std::string_view form;
  bool (*read)(const YAML::Node& value, scrape_target& out);
};

bool read_text(const YAML::Node& value, std::string& out) {
  if (!value.IsScalar() || value.Scalar().empty()) return false;
  out = value.Scalar();
  return true;
}

bool read_list(const YAML::Node& value, std::vector<std::string>& out) {
  if (!value.IsSequence()) return false;
  for (const auto& element : value) {
    if (!element.IsScalar() || element.Scalar().empty()) return false;
    out.push_back(element.Scalar());
  }
  return true;
}

bool read_span(const YAML::Node& value, duration least, duration most, duration& out) {
  return value.IsScalar() && parse_duration(value.Scalar(), out) && out >= least && out <= most;
}

bool read_count(const YAML::Node& value, std::size_t least, std::size_t most, std::size_t& out) {
  const auto read = value.IsScalar() ? read_number<std::size_t>(value.Scalar()) : std::nullopt;
  if (!read || *read < least || *read > most) return false;
  out = *read;
  return true;
}

constexpr std::array keys{
    key_row{
        "name", "a word for it",
        [](const YAML::Node& v, scrape_target& t) { return read_text(v, t.name) && t.name.size() <= 100; }},
    key_row{"period", "a duration such as 1s, from 100ms to 1h",
            [](const YAML::Node& v, scrape_target& t) {
              return read_span(v, milliseconds(100), std::chrono::hours(1), t.period);
            }},
    key_row{"timeout", "a duration such as 500ms, from 10ms to 1m",
            [](const YAML::Node& v, scrape_target& t) {
              return read_span(v, milliseconds(10), std::chrono::minutes(1), t.timeout);
            }},
    key_row{"stale-after", "a duration such as 30s, from 1s to 24h",
            [](const YAML::Node& v, scrape_target& t) {
              return read_span(v, std::chrono::seconds(1), std::chrono::hours(24), t.stale_after);
            }},
    key_row{"metrics", "a list of names, * allowed",
            [](const YAML::Node& v, scrape_target& t) { return read_list(v, t.metrics); }},
    key_row{"drop-labels", "a list of label names",
            [](const YAML::Node& v, scrape_target& t) { return read_list(v, t.drop_labels); }},
    key_row{"keep-labels", "a list of label names",
            [](const YAML::Node& v, scrape_target& t) { return read_list(v, t.keep_labels); }},
    key_row{"fold", "none, sum, max, min or mean",
            [](const YAML::Node& v, scrape_target& t) {
              const auto* at = v.IsScalar() ? std::find(folds.begin(), folds.end(), v.Scalar()) : folds.end();
              if (at == folds.end()) return false;
              t.folded = static_cast<fold>(at - folds.begin());
              return true;
            }},
    key_row{"series", "a number from 1 to 5000",
            [](const YAML::Node& v, scrape_target& t) { return read_count(v, 1, 5'000, t.series); }},
    key_row{"bytes", "a number from 1000 to 67108864",
            [](const YAML::Node& v, scrape_target& t) { return read_count(v, 1'000, 64u << 20, t.bytes); }},
    key_row{"ca", "a PEM file",
            [](const YAML::Node& v, scrape_target& t) { return read_text(v, t.pem.authority); }},
    key_row{"cert", "a PEM file",
            [](const YAML::Node& v, scrape_target& t) { return read_text(v, t.pem.certificate); }},
    key_row{"key", "a PEM file",
            [](const YAML::Node& v, scrape_target& t) { return read_text(v, t.pem.key); }},
    key_row{"server-name", "a host name",
            [](const YAML::Node& v, scrape_target& t) { return read_text(v, t.server_name); }},
    key_row{"token-file", "a file",
            [](const YAML::Node& v, scrape_target& t) { return read_text(v, t.token_file); }},
};

/// What contradicts itself within a target although each key is valid. Empty if nothing does.
std::string_view contradiction(const scrape_target& t) {
  if (!t.drop_labels.empty() && !t.keep_labels.empty())
    return "drop-labels and keep-labels: give one of them";
  if (t.pem.certificate.empty() != t.pem.key.empty())
    return "cert and key belong together: give both or neither";
  if (!t.secure && !t.token_file.empty())
    return "token-file needs https: a token is not sent where others can read it";
  if (!t.secure && !(t.pem.authority.empty() && t.pem.certificate.empty()))
    return "ca, cert and key are for https: write https:// in url, or take them out";
  if (t.secure && t.pem.authority.empty()) return "ca is missing: https needs the CA that signs the exporter";
  return {};
}

}  // namespace

result<std::vector<scrape_target>> parse_targets(const std::string& yaml, const std::string& name,
                                                 duration period) {
  const auto refuse = [&](const YAML::Mark& where, std::string_view what) {
    return error{errc::invalid_input, fmt::format("{} line {}: {}", name, std::max(where.line, 0) + 1, what)};
  };
  std::vector<scrape_target> all;
  try {
    const YAML::Node top = load_yaml(yaml);
    if (!top.IsMap() || top.size() != 1 || !top["targets"] || !top["targets"].IsSequence()) {
      return refuse(top.Mark(),
                    "write \"targets:\" and below it one \"- url: http://...\" for each exporter");
    }
    for (const YAML::Node& entry : top["targets"]) {
      if (!entry.IsMap() || !entry["url"] || !entry["url"].IsScalar())
        return refuse(entry.Mark(), "an exporter needs its url: write \"- url: http://HOST:PORT/metrics\"");
      auto target = parse_target(entry["url"].Scalar());
      if (!target) return refuse(entry["url"].Mark(), target.error().message);
      target->period = period;
      bool own_timeout = false;
      for (const auto& pair : entry) {
        const auto& key = pair.first.Scalar();
        if (key == "url") continue;
        const auto* row = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.key == key; });
        if (row == keys.end()) {
          std::string known = "url";
          for (const auto& k : keys) known.append(", ").append(k.key);
          return refuse(pair.first.Mark(), fmt::format("unknown key \"{}\": known are {}", key, known));
        }
        if (!row->read(pair.second, *target))
          return refuse(pair.second.Mark(), fmt::format("{}: give {}", key, row->form));
        own_timeout = own_timeout || key == "timeout";
      }
      if (!own_timeout) target->timeout = std::min(target->timeout, target->period);
      if (const auto what = contradiction(*target); !what.empty()) return refuse(entry.Mark(), what);
      all.push_back(*std::move(target));
    }
  } catch (const YAML::Exception& e) {
    return refuse(e.mark, fmt::format("no valid YAML: {}", e.msg));
  }
  return all;
}

}  // namespace binnacle::agent
