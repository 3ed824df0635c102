#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace binnacle {

/// The form in which a program prints its findings.
enum class output_form : std::uint8_t { text, json };

/// Describes the settings of a daemon in one place. Every key is a key of the YAML file and a flag of the
/// same name (`period: 1s` and `--period 1s`). Flags win over the file, and the file wins over the defaults.
/// An unknown key is refused with file, line and the nearest known key. A value of a wrong type is refused
/// with file, line and the form expected. A key that is given twice in one place is refused, too, unless it
/// is a list. No setting is applied unless all are right. --config FILE, --print-config, --help and --version
/// always exist.
class config_spec {
 public:
  /// `program` and `summary` open the --help text; `example` closes it.
  config_spec(std::string program, std::string summary, std::string example);

  /// The settings added from now on stand under this title in --help and --print-config.
  void group(std::string title);

  // Each add() binds a key to a variable that holds the default and must outlive the spec. `help` is one line
  // and states the unit.
  void add(std::string key, std::string& value, std::string help);
  void add(std::string key, bool& value, std::string help);  ///< as a flag: --key, --key=true, --key=false
  void add(std::string key, std::int64_t& value, std::int64_t least, std::int64_t most, std::string help);
  void add(std::string key, double& value, double least, double most, std::string help);
  void add(std::string key, duration& value, duration least, duration most, std::string help);
  /// The same as add(), and 0s is allowed, too; 0s has a meaning of its own.
  void add_or_zero(std::string key, duration& value, duration least, duration most, std::string help);
  /// A list in YAML. On the command line the values are comma-separated, or the flag is repeated.
  void add(std::string key, std::vector<std::string>& value, std::string help);
  void add(std::string key, log_level& value, std::string help);    ///< debug, info, warning, error, off
  void add(std::string key, output_form& value, std::string help);  ///< text, json
  /// One of these words. Each word stands for a value of an enumeration.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add_choice(std::string key, Enum& value, const std::vector<std::pair<std::string, Enum>>& choices,
                  std::string help) {
    texts words;
    for (const auto& [word, meaning] : choices) words.push_back(word);
    auto present = [&value, choices] {
      std::size_t at = 0;
      while (at + 1 < choices.size() && choices[at].second != value) ++at;
      return at;
    };
    auto choose = [&value, choices](std::size_t at) { value = choices[at].second; };
    add_choice_of(std::move(key), std::move(words), std::move(present), std::move(choose), std::move(help));
  }

  /// Another spelling of `key` (TAS's `--kubeConfig`), accepted on the command line only. --help lists it
  /// under "accepted for".
  void alias(std::string flag, std::string key, std::string accepted_for);
  /// A flag that is accepted and does nothing. If it is given, `note` is logged ("klog flag; use
  /// --log-level").
  void ignored(std::string flag, bool takes_value, std::string note);

  /// What parse() returns besides the settings.
  struct outcome {
    bool exit = false;               ///< --help, --version or --print-config was answered: exit with status 0
    std::vector<std::string> notes;  ///< for the log: accepted-but-ignored flags, each once
  };

  /// Parses the command line, then the file of --config (if any), and assigns the bound variables.
  /// A single dash before a long name is accepted (TAS, Go's flag package). Errors: one sentence;
  /// invalid_input, or not_found, permission, io for the file. Blocks: reads the file. Prints to `out` for
  /// --help, --version and --print-config only.
  result<outcome> parse(int argc, const char* const* argv, std::ostream& out);

  /// A complete YAML file with every key at its present value (before parse(): the default), each commented
  /// with its help and form. --print-config prints it with the file and flags given.
  std::string commented_defaults() const;

 private:
  using texts = std::vector<std::string>;
  struct setting {
    std::string key;
    std::string help;
    std::string form;  // "a duration such as 1s, from 50ms to 1h"
    std::string title;
    bool is_flag = false;  // takes no value on the command line
    bool is_list = false;
    std::function<bool(const texts&, bool apply)>
        accept;                         // false: wrong form. It changes the variable only if `apply`
    std::function<std::string()> yaml;  // the present value
  };
  struct spelling {
    std::string flag;
    std::string key;
    std::string accepted_for;
  };
  struct dropped {
    std::string flag;
    bool takes_value;
    std::string note;
  };
  /// The values that one place (the file or the command line) gives a setting: checked, not applied yet.
  struct given {
    const setting* which;
    texts values;
    std::string flag = {};  // on the command line: the flag as spelled there
  };
  struct command_line {
    std::vector<given> settings;
    std::vector<std::string> notes;
    std::string config_file;
    bool help = false, version = false, print = false;
  };

  static constexpr std::array<std::string_view, 5> built_in_flags{"config", "print-config", "help", "h",
                                                                  "version"};

  void add_setting(std::string key, std::string help, setting rest);
  /// `present` returns an index into `words`; `choose` takes one.
  void add_choice_of(std::string key, texts words, std::function<std::size_t()> present,
                     std::function<void(std::size_t)> choose, std::string help);
  void add_duration(std::string key, duration& value, duration least, duration most, bool or_zero,
                    std::string help);
  const setting* find(std::string_view key) const;
  std::string nearest(std::string_view name, bool flags) const;
  result<void> read_flags(int argc, const char* const* argv, command_line& out) const;
  result<void> read_file(const std::string& path, std::vector<given>& out) const;
  std::string help_text() const;

  std::string program_;
  std::string summary_;
  std::string example_;
  std::string title_;
  std::vector<setting> settings_;
  std::vector<spelling> spellings_;
  std::vector<dropped> dropped_;
};

}  // namespace binnacle
