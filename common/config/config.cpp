#include "common/config/config.hpp"

#include "common/text/read_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace binnacle {
namespace {

using texts = std::vector<std::string>;

std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// Accepts the words that Go's flag package accepts for a bool.
bool read_bool(std::string_view text, bool& out) noexcept {
  for (std::string_view yes : {"true", "1", "t", "T", "TRUE", "True"}) {
    if (text == yes) return out = true, true;
  }
  for (std::string_view no : {"false", "0", "f", "F", "FALSE", "False"}) {
    if (text == no) return out = false, true;
  }
  return false;
}

}  // namespace

config_spec::config_spec(std::string program, std::string summary, std::string example)
    : program_(std::move(program)), summary_(std::move(summary)), example_(std::move(example)) {}

void config_spec::group(std::string title) { title_ = std::move(title); }

void config_spec::add_setting(std::string key, std::string help, setting rest) {
  rest.key = std::move(key);
  rest.help = std::move(help);
  rest.title = title_;
  settings_.push_back(std::move(rest));
}

void config_spec::add(std::string key, std::string& value, std::string help) {
  setting s;
  s.form = "a text";
  s.accept = [&value](const texts& given, bool apply) {
    if (apply) value = given.back();
    return true;
  };
  s.yaml = [&value] { return yaml_text(value); };
  add_setting(std::move(key), std::move(help), std::move(s));
}

void config_spec::add(std::string key, log_level& value, std::string help) {
  std::vector<std::pair<std::string, log_level>> words;
  for (const auto level :
       {log_level::debug, log_level::info, log_level::warning, log_level::error, log_level::off})
    words.emplace_back(to_string(level), level);
  add_choice(std::move(key), value, words, std::move(help));
}

void config_spec::add(std::string key, output_form& value, std::string help) {
  add_choice<output_form>(std::move(key), value, {{"text", output_form::text}, {"json", output_form::json}},
                          std::move(help));
}

void config_spec::add_choice_of(std::string key, texts words, std::function<std::size_t()> present,
                                std::function<void(std::size_t)> choose, std::string help) {
  setting s;
  s.form = fmt::format("one of {}", fmt::join(words, ", "));
  s.accept = [words, choose = std::move(choose)](const texts& given, bool apply) {
    const auto at = std::ranges::find(words, given.back());
    if (at == words.end()) return false;
    if (apply) choose(static_cast<std::size_t>(at - words.begin()));
    return true;
  };
  s.yaml = [words = std::move(words), present = std::move(present)] {
    return yaml_text(words.at(present()));
  };
  add_setting(std::move(key), std::move(help), std::move(s));
}

void config_spec::add(std::string key, bool& value, std::string help) {
  setting s;
  s.form = "true or false";
  s.is_flag = true;
  s.accept = [&value](const texts& given, bool apply) {
    bool read = false;
    if (!read_bool(given.back(), read)) return false;
    if (apply) value = read;
    return true;
  };
  s.yaml = [&value] { return std::string(value ? "true" : "false"); };
  add_setting(std::move(key), std::move(help), std::move(s));
}

void config_spec::add(std::string key, std::int64_t& value, std::int64_t least, std::int64_t most,
                      std::string help) {
  setting s;
  s.form = fmt::format("an integer from {} to {}", least, most);
  s.accept = [&value, least, most](const texts& given, bool apply) {
    const auto read = read_number<std::int64_t>(given.back());
    if (!read || *read < least || *read > most) return false;
    if (apply) value = *read;
    return true;
  };
  s.yaml = [&value] { return std::to_string(value); };
  add_setting(std::move(key), std::move(help), std::move(s));
}

void config_spec::add(std::string key, double& value, double least, double most, std::string help) {
  setting s;
  s.form = fmt::format("a number from {} to {}", least, most);
  s.accept = [&value, least, most](const texts& given, bool apply) {
    const auto read = read_number<double>(given.back());
    if (!read || !(*read >= least && *read <= most)) return false;
    if (apply) value = *read;
    return true;
  };
  s.yaml = [&value] { return fmt::format("{}", value); };
  add_setting(std::move(key), std::move(help), std::move(s));
}

void config_spec::add(std::string key, duration& value, duration least, duration most, std::string help) {
  add_duration(std::move(key), value, least, most, false, std::move(help));
}

void config_spec::add_or_zero(std::string key, duration& value, duration least, duration most,
                              std::string help) {
  add_duration(std::move(key), value, least, most, true, std::move(help));
}

void config_spec::add_duration(std::string key, duration& value, duration least, duration most, bool or_zero,
                               std::string help) {
  setting s;
  s.form = fmt::format("a duration such as 200ms, 1s or 1h30m{} from {} to {}", or_zero ? ": 0s, or" : ",",
                       duration_text(least), duration_text(most));
  s.accept = [&value, least, most, or_zero](const texts& given, bool apply) {
    duration read{};
    if (!parse_duration(given.back(), read)) return false;
    const bool none = or_zero && read == duration::zero();
    if (!none && (read < least || read > most)) return false;
    if (apply) value = read;
    return true;
  };
  s.yaml = [&value] { return duration_text(value); };
  add_setting(std::move(key), std::move(help), std::move(s));
}

void config_spec::add(std::string key, std::vector<std::string>& value, std::string help) {
  setting s;
  s.form = "a list of texts";
  s.is_list = true;
  s.accept = [&value](const texts& given, bool apply) {
    if (apply) value = given;
    return true;
  };
  s.yaml = [&value] {
    std::string out;
    for (const std::string& v : value) out += (out.empty() ? "" : ", ") + yaml_text(v);
    return "[" + out + "]";
  };
  add_setting(std::move(key), std::move(help), std::move(s));
}

void config_spec::alias(std::string flag, std::string key, std::string accepted_for) {
  spellings_.push_back({std::move(flag), std::move(key), std::move(accepted_for)});
}

void config_spec::ignored(std::string flag, bool takes_value, std::string note) {
  dropped_.push_back({std::move(flag), takes_value, std::move(note)});
}

const config_spec::setting* config_spec::find(std::string_view key) const {
  const auto at = std::ranges::find(settings_, key, &setting::key);
  return at == settings_.end() ? nullptr : &*at;
}

result<config_spec::outcome> config_spec::parse(int argc, const char* const* argv, std::ostream& out) {
  command_line line;
  if (auto read = read_flags(argc, argv, line); !read) return read.error();
  outcome done;
  done.notes = std::move(line.notes);
  if (line.help || line.version) {
    out << (line.help ? help_text() : program_ + " " BINNACLE_VERSION "\n");
    done.exit = true;
    return done;
  }
  std::vector<given> all;
  if (!line.config_file.empty()) {
    if (auto read = read_file(line.config_file, all); !read) return read.error();
  }
  std::ranges::move(line.settings, std::back_inserter(all));
  for (const given& g : all) g.which->accept(g.values, true);
  if (line.print) {
    out << commented_defaults();
    done.exit = true;
  }
  return done;
}

}  // namespace binnacle
