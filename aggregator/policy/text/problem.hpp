#pragma once

#include "common/text/json_writer.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

enum class severity : std::uint8_t {
  error,    ///< refused: the strategy, policy or file named is not taken
  warning,  ///< taken, and probably not what was meant
  hint,     ///< taken; could be better
  note,     ///< nothing is wrong: says what was skipped
};
std::string_view to_string(severity s) noexcept;  ///< "error"…

/// One thing to say about a policy file.
struct problem {
  std::string file;
  int line = 0;  ///< from 1; 0: the file as a whole
  std::string
      field;  ///< "spec.strategies.dontschedule.rules[0].target", from the object's root; may be empty
  std::string message;  ///< one sentence with the remedy
  severity level = severity::error;

  /// "power.yaml:12: error: spec.strategies.dontschedule.rules[0].target: …", as compilers write it.
  std::string text() const { return text(to_string(level)); }
  /// The same with a level's word of the caller's, which may be coloured.
  std::string text(std::string_view word) const;
  friend bool operator==(const problem&, const problem&) = default;
};

/// Writes it as the next value.
void write_problem(json_writer& out, const problem& p);

/// The problems of one file, with a bound: a file that is all wrong gives the first ones and a count.
class findings {
 public:
  static constexpr std::size_t most = 200;

  explicit findings(std::string file) : file_(std::move(file)) {}

  void add(severity level, int line, std::string field, std::string message);
  std::size_t errors() const noexcept { return errors_; }
  /// The problems by line; call once.
  std::vector<problem> take();

 private:
  std::string file_;
  std::vector<problem> all_;
  std::size_t errors_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace binnacle::policy
