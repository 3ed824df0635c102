#include "common/config/config.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

// The command line is parsed by hand and not by CLI11. CLI11 takes "--address [::]" for a list, the flag
// after "--cert=" for its value, and "-port" for "-p ort". Its error messages are written for developers.

namespace binnacle {
namespace {

/// "--port=9001" as name and value. One dash counts as two, because TAS and klog write one.
struct token {
  std::string_view name;  // empty if this is not a flag
  std::string_view value;
  bool has_value = false;
};

token split(std::string_view text) {
  token t;
  if (text.size() < 2 || text[0] != '-' || text == "--") return t;
  text.remove_prefix(text.starts_with("--") ? 2 : 1);
  const std::size_t equals = text.find('=');
  t.name = text.substr(0, equals);
  t.has_value = equals != std::string_view::npos;
  if (t.has_value) t.value = text.substr(equals + 1);
  return t;
}

void split_list(std::string_view text, std::vector<std::string>& out) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) out.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

}  // namespace

result<void> config_spec::read_flags(int argc, const char* const* argv, command_line& out) const {
  const auto target = [this](std::string_view name) {
    const auto other = std::ranges::find(spellings_, name, &spelling::flag);
    return find(other == spellings_.end() ? name : std::string_view(other->key));
  };
  const auto is_known = [&](std::string_view name) {
    return target(name) != nullptr || std::ranges::find(dropped_, name, &dropped::flag) != dropped_.end() ||
           std::ranges::find(built_in_flags, name) != built_in_flags.end();
  };

  // As in a file: if a flag has two values, nobody knows which one is meant.
  const auto twice = [](std::string_view flag, std::string_view before) {
    return invalid(fmt::format("--{} is given twice{}: give it once", flag,
                               flag == before ? "" : fmt::format(", first as --{}", before)));
  };

  int next = 1;
  // The value behind '=', or else the next word. If the next word is a known flag, the value was forgotten.
  const auto value_of = [&](const token& t) -> result<std::string> {
    if (t.has_value) return std::string(t.value);
    if (next < argc && !is_known(split(argv[next]).name)) return std::string(argv[next++]);
    return invalid(fmt::format("--{0} needs a value: write --{0}=VALUE", t.name));
  };

  while (next < argc) {
    const std::string_view word = argv[next++];
    const token t = split(word);
    if (t.name.empty())
      return invalid(
          fmt::format("unexpected argument {}: settings are flags, see --help", in_quotes(word, 253)));

    if (const setting* s = target(t.name); s != nullptr) {
      texts values;
      if (s->is_flag) {
        values.emplace_back(t.has_value ? t.value : "true");
      } else {
        auto value = value_of(t);
        if (!value) return value.error();
        if (s->is_list) {
          split_list(*value, values);
        } else {
          values.push_back(std::move(*value));
        }
      }
      if (!s->accept(values, false))
        return invalid(fmt::format("--{} is {}: give {}", t.name, in_quotes(values.back(), 253), s->form));
      const auto before = std::ranges::find(out.settings, s, &given::which);
      if (before == out.settings.end()) {
        out.settings.push_back({s, std::move(values), std::string(t.name)});
      } else if (s->is_list) {
        std::ranges::move(values, std::back_inserter(before->values));
      } else {
        return twice(t.name, before->flag);
      }
      continue;
    }
    if (const auto d = std::ranges::find(dropped_, t.name, &dropped::flag); d != dropped_.end()) {
      if (d->takes_value) {
        if (auto value = value_of(t); !value) return value.error();
      }
      if (std::ranges::find(out.notes, d->note) == out.notes.end()) out.notes.push_back(d->note);
      continue;
    }
    if (t.name == "config") {
      auto value = value_of(t);
      if (!value) return value.error();
      if (value->empty()) return invalid("--config names no file: write --config=FILE");
      if (!out.config_file.empty()) return twice(t.name, t.name);
      out.config_file = std::move(*value);
    } else if (t.name == "help" || t.name == "h") {
      out.help = true;
    } else if (t.name == "version") {
      out.version = true;
    } else if (t.name == "print-config") {
      out.print = true;
    } else {
      const std::string near = nearest(t.name, true);
      return invalid(fmt::format("unknown flag --{}: {}", t.name,
                                 near.empty() ? "see --help" : fmt::format("did you mean --{}?", near)));
    }
  }
  return {};
}

}  // namespace binnacle
