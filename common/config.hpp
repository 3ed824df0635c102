#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle {

/// The one description of a daemon's settings. Every key is a key of the YAML file and a flag of the same
/// name
/// (`period: 1s` and `--period 1s`); flags win over the file, the file over the defaults. Unknown keys are
/// refused with file and line, wrong types with file, line and the form expected. Nothing is applied unless
/// everything is right.
class config_spec {
 public:
  /// `program` and `summary` open the --help text; `example` closes it.
  config_spec(std::string program, std::string summary, std::string example);

  // Each add() binds a key to a variable that holds the default. `help` is one line and says the unit.
  void add(std::string key, std::string& value, std::string help);
  void add(std::string key, bool& value, std::string help);  ///< as a flag: --key, --key=true, --key=false
  void add(std::string key, std::int64_t& value, std::int64_t least, std::int64_t most, std::string help);
  void add(std::string key, double& value, double least, double most, std::string help);
  void add(std::string key, duration& value, duration least, duration most, std::string help);
  void add(std::string key, std::vector<std::string>& value,
           std::string help);  ///< YAML list; as a flag comma-separated or repeated

  /// Another spelling of `key`, accepted as a flag only (TAS's `--kubeConfig`); listed in --help under
  /// "accepted for".
  void alias(std::string flag, std::string key, std::string accepted_for);
  /// A flag that is accepted, does nothing, and is answered with `note` as a log line ("klog flag; use
  /// --log-level").
  void ignored(std::string flag, bool takes_value, std::string note);

  /// What parse() found besides the settings.
  struct outcome {
    bool exit = false;               ///< --help or --version was printed: leave with status 0
    std::vector<std::string> notes;  ///< for the log: accepted-but-ignored flags
  };

  /// Parses the command line, then the file of --config (if any), and assigns the bound variables.
  /// A single dash before a long name is accepted (TAS, Go's flag package). Errors: invalid_input, one
  /// sentence. Blocks: reads the file. Prints to `out` only for --help and --version.
  result<outcome> parse(int argc, const char* const* argv, std::ostream& out);

  /// A complete YAML file with every default, each commented with its help: `--print-config`.
  std::string commented_defaults() const;

 private:
  struct setting {
    std::string key;
    std::string help;
    std::string form;      // "duration such as 1s", "integer 1..65535"
    bool is_flag = false;  // takes no value on the command line
    bool is_list = false;
    std::function<bool(const std::vector<std::string>&)> assign;  // false: not of this form
    std::function<std::string()> text;                            // present value as YAML
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

  const setting* find(std::string_view key) const;
  result<void> read_file(const std::string& path,
                         std::vector<std::pair<const setting*, std::vector<std::string>>>& found) const;
  void print_help(std::ostream& out) const;

  std::string program_;
  std::string summary_;
  std::string example_;
  std::vector<setting> settings_;
  std::vector<spelling> spellings_;
  std::vector<dropped> dropped_;
};

}  // namespace binnacle
