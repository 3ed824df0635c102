#include "common/text/text.hpp"

#include "common/config/config.hpp"
#include "common/text/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace binnacle {
namespace {

/// `text` as a YAML comment, line by line.
std::string commented(std::string_view text) {
  std::string out = "# ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "# ";
  }
  return out + '\n';
}

}  // namespace

std::string config_spec::nearest(std::string_view name, bool flags) const {
  std::vector<std::string_view> known;
  for (const setting& s : settings_) known.push_back(s.key);
  if (flags) {
    for (const spelling& s : spellings_) known.push_back(s.flag);
    for (std::string_view f : built_in_flags) {
      if (f.size() > 1) known.push_back(f);
    }
  }
  return std::string(binnacle::nearest(name, known));
}

std::string config_spec::help_text() const {
  std::string out = fmt::format("{}: {}\n\nusage: {} [flags]\n", program_, summary_, program_);
  const auto to = std::back_inserter(out);
  const auto print = [&](std::string_view flag, std::string_view text) {
    fmt::format_to(to, "  {:<26} {}\n", flag, text);
  };

  std::string title;
  for (const setting& s : settings_) {
    if (&s == settings_.data() || s.title != title)
      fmt::format_to(to, "\n{}:\n", s.title.empty() ? "Settings" : s.title);
    title = s.title;
    print("--" + s.key, s.help);
    print("", fmt::format("{}; default {}", s.form, s.yaml()));
  }
  out += "\nAlways:\n";
  print("--config FILE", "YAML file with the same keys; flags win over it");
  print("--print-config", "print such a file with all settings as they would be, and exit");
  print("--help, --version", "");
  if (!spellings_.empty()) out += "\nOther spellings, with one or two dashes:\n";
  for (const spelling& s : spellings_)
    print("--" + s.flag, fmt::format("is --{} (accepted for {})", s.key, s.accepted_for));
  if (!dropped_.empty()) {
    out += "\nAccepted without effect:";
    for (const dropped& d : dropped_) fmt::format_to(to, " --{}", d.flag);
    out += '\n';
  }
  if (!example_.empty()) fmt::format_to(to, "\nExample:\n  {}\n", example_);
  return out;
}

std::string config_spec::commented_defaults() const {
  std::string out = commented(fmt::format(
      "{}: {}\nEvery key is also a flag (--key value); flags win over this file.", program_, summary_));
  const auto to = std::back_inserter(out);
  std::string title;
  for (const setting& s : settings_) {
    if (s.title != title) fmt::format_to(to, "\n# ---- {} ----\n", s.title);
    title = s.title;
    fmt::format_to(to, "\n{}{}{}: {}\n", commented(s.help), commented(s.form), s.key, s.yaml());
  }
  return out;
}

}  // namespace binnacle
