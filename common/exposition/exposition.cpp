#include "common/exposition/exposition.hpp"

#include "common/keyed_hash.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace binnacle::exposition {
namespace {

using metrics::kind;

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
void skip_blanks(std::string_view& line) noexcept {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
}

std::string_view take_word(std::string_view& line) noexcept {
  skip_blanks(line);
  const auto length = static_cast<std::size_t>(std::ranges::find_if(line, is_blank) - line.begin());
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(length);
  return word;
}

/// Takes the leading [a-zA-Z_][a-zA-Z0-9_]* off `line`. In metric names (`colon`) ':' counts as a letter.
std::string_view take_name(std::string_view& line, bool colon) noexcept {
  std::size_t length = 0;
  while (length < line.size()) {
    const char c = line[length];
    if (!is_letter(c) && !(colon && c == ':') && !(length > 0 && is_digit(c))) break;
    ++length;
  }
  const std::string_view name = line.substr(0, length);
  line.remove_prefix(length);
  return name;
}

/// Reads what Go's ParseFloat reads, as far as an exposition uses it: decimal numbers, +Inf, -Inf, NaN.
bool read_value(std::string_view text, double& out) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault == std::errc::result_out_of_range) {
    out = std::strtod(std::string(text).c_str(), nullptr);  // 1e-400 counts as 0; 1e400 is refused
    if (std::fabs(out) < 1) fault = {};
  }
  return fault == std::errc{} && end == text.data() + text.size() && text.back() != ')';  // refuses nan(...)
}

enum class shape { gauge, counter, histogram, summary };

struct family_lines {
  shape type = shape::gauge;
  std::string help;
};

struct type_row {
  std::string_view name;
  shape type;
};
constexpr std::array types{
    type_row{"counter", shape::counter},     type_row{"gauge", shape::gauge},
    type_row{"histogram", shape::histogram}, type_row{"summary", shape::summary},
    type_row{"untyped", shape::gauge},       type_row{"unknown", shape::gauge},
    type_row{"info", shape::gauge},          type_row{"gaugehistogram", shape::gauge},
    type_row{"stateset", shape::gauge},
};

/// Suffixes that a series of a counter, histogram or summary may have after its family's name.
constexpr std::array<std::string_view, 5> suffixes{"_bucket", "_count", "_sum", "_total", "_created"};

kind series_kind(shape family, std::string_view suffix) noexcept {
  if (family == shape::counter) return suffix == "_created" ? kind::gauge : kind::counter;
  const bool cumulative = suffix == "_bucket" || suffix == "_count" || suffix == "_sum";
  return family != shape::gauge && cumulative ? kind::counter : kind::gauge;
}

bool is_eof(std::string_view line) noexcept { return line == "# EOF"; }

}  // namespace

class parser::impl {
 public:
  impl(const limits& bounds, form what, std::function<void(const sample&)> on_sample)
      : bounds_(bounds), seconds_(what == form::openmetrics), on_sample_(std::move(on_sample)) {}

  result<void> feed(std::string_view piece) {
    if (failed_) return failure_;
    bytes_ += piece.size();
    if (bytes_ > bounds_.bytes) {
      failed_ = true;
      failure_ = {
          errc::overloaded,
          fmt::format("the text has more than the {} bytes that are allowed: split it up", bounds_.bytes)};
      return failure_;
    }
    while (!piece.empty()) {
      const void* feed = std::memchr(piece.data(), '\n', piece.size());
      if (feed == nullptr) {
        begun_ += piece;
        if (begun_.size() <= most_line()) return {};
        ++line_number_;
        refuse("the line is too long", errc::overloaded);
        return failure_;
      }
      const auto length = static_cast<std::size_t>(static_cast<const char*>(feed) - piece.data());
      bool read = false;
      if (begun_.empty()) {
        read = read_line(piece.substr(0, length));
      } else {
        begun_ += piece.substr(0, length);
        read = read_line(begun_);
        begun_.clear();
      }
      if (!read) return failure_;
      piece.remove_prefix(length + 1);
    }
    return {};
  }

  result<void> finish() {
    if (failed_) return failure_;
    if (!seconds_ && begun_.find_first_not_of(" \t\r") != std::string::npos) {
      ++line_number_;
      refuse("the text is cut off: end its last line with a line feed");
    } else if (read_line(begun_) && seconds_ && !ended_) {
      refuse("the text is cut off: OpenMetrics ends with # EOF");
    }
    begun_.clear();
    return failed_ ? failure_ : result<void>();
  }

 private:
  // The length of the longest line that the other bounds allow, with every character escaped.
  std::size_t most_line() const noexcept { return 4096 + 2 * bounds_.text * (1 + 2 * bounds_.labels); }

  bool read_line(std::string_view line) {
    ++line_number_;
    if (find_invalid_utf8(line) != std::string_view::npos)
      return refuse("a byte that is not UTF-8: write UTF-8");
    while (!line.empty() && (is_blank(line.back()) || line.back() == '\r')) line.remove_suffix(1);
    skip_blanks(line);
    if (line.empty()) return true;
    if (ended_) return refuse("there is more behind # EOF");
    if (line.front() != '#') return read_sample(line);
    ended_ = seconds_ && is_eof(line);
    return read_comment(line.substr(1));
  }

  bool refuse(std::string_view what, errc code = errc::invalid_input) {
    failed_ = true;
    failure_ = {code, fmt::format("line {}: {}", line_number_, what)};
    return false;
  }

  bool read_comment(std::string_view line) {
    const std::string_view word = take_word(line);
    const bool help = word == "HELP";
    if (!help && word != "TYPE") return true;
    skip_blanks(line);
    const std::string_view name = take_name(line, true);
    if (name.empty() || (!line.empty() && !is_blank(line.front()))) {
      return refuse(fmt::format("# {} needs a metric name of letters, digits, _ and :", word));
    }
    if (name.size() > bounds_.text) return refuse("the metric name is too long", errc::overloaded);
    auto at = families_.find(name);
    if (at == families_.end()) {
      if (families_.size() == bounds_.families)
        return refuse("too many metrics are described", errc::overloaded);
      at = families_.emplace(std::string(name), family_lines{}).first;
    }
    if (help) {
      skip_blanks(line);
      read_help(line, at->second.help);
      return true;
    }
    const std::string_view type = take_word(line);
    const auto* row = std::ranges::find(types, type, &type_row::name);
    if (row == types.end()) {
      return refuse(fmt::format("{} is not a type: write counter, gauge, histogram, summary or untyped",
                                in_quotes(type)));
    }
    at->second.type = row->type;
    return true;
  }

  void read_help(std::string_view text, std::string& out) const {
    out.clear();
    for (std::size_t i = 0; i < text.size() && out.size() < bounds_.text; ++i) {
      if (text[i] == '\\' && i + 1 < text.size() &&
          (text[i + 1] == 'n' || text[i + 1] == '\\' || text[i + 1] == '"')) {
        out += text[++i] == 'n' ? '\n' : text[i];
      } else {
        out += text[i];
      }
    }
    // The cut may have split a character. The whole text was UTF-8, so only the end can be wrong now.
    if (const auto bad = find_invalid_utf8(out); bad != std::string::npos) out.resize(bad);
  }

  bool read_sample(std::string_view line) {
    const std::string_view name = take_name(line, true);
    if (name.empty())
      return refuse(fmt::format("{} is not a sample: write name{{label=\"value\"}} number", in_quotes(line)));
    if (name.size() > bounds_.text) return refuse("the metric name is too long", errc::overloaded);
    if (series_ == bounds_.series) {
      return refuse(fmt::format("more than {} series ({} is the next), so the whole text is refused: write "
                                "fewer series, or split the text",
                                bounds_.series, in_quotes(name)),
                    errc::overloaded);
    }
    if (!line.empty() && !is_blank(line.front()) && line.front() != '{') {
      return refuse(fmt::format("{} does not end the metric name {}: names are letters, digits, _ and :",
                                in_quotes(line.substr(0, 1)), in_quotes(name)));
    }
    skip_blanks(line);
    std::size_t labels = 0;
    if (line.starts_with('{') && !read_labels(line, labels)) return false;
    out_.labels.resize(labels);

    const std::string_view value = take_word(line);
    if (value.empty())
      return refuse(fmt::format("{} has no value: write a number after it", in_quotes(name)));
    if (!read_value(value, out_.value)) {
      return refuse(
          fmt::format("{} is not a value: write a decimal number, NaN, +Inf or -Inf", in_quotes(value)));
    }
    out_.timestamp_ms.reset();
    const std::string_view time = take_word(line);
    if (!time.empty() && time.front() != '#') {
      if (!read_time(time))
        return refuse(fmt::format("{} is not a timestamp: write {}", in_quotes(time),
                                  seconds_ ? "seconds" : "milliseconds as an integer"));
      const std::string_view more = take_word(line);
      if (!more.empty() && more.front() != '#')
        return refuse(fmt::format("{} comes after the timestamp: remove it", in_quotes(more)));
    }
    out_.name = name;
    describe(name);
    ++series_;
    on_sample_(out_);
    return true;
  }

  bool read_time(std::string_view text) noexcept {
    if (!seconds_) {
      out_.timestamp_ms = read_number<std::int64_t>(text);
      return out_.timestamp_ms.has_value();
    }
    double seconds = 0;
    if (!read_value(text, seconds) || !(std::fabs(seconds) < 9e15)) return false;
    out_.timestamp_ms = std::llround(seconds * 1000);
    return true;
  }

  bool read_labels(std::string_view& line, std::size_t& count) {
    line.remove_prefix(1);
    for (;;) {
      skip_blanks(line);
      if (line.starts_with('}')) break;
      const std::string_view name = take_name(line, false);
      skip_blanks(line);
      if (name.empty() || !line.starts_with('='))
        return refuse("a label must be written name=\"value\", separated by commas, in braces");
      line.remove_prefix(1);
      skip_blanks(line);
      if (!line.starts_with('"'))
        return refuse(fmt::format("the value of label {} must be in double quotes", in_quotes(name)));
      line.remove_prefix(1);
      if (count == bounds_.labels)
        return refuse(fmt::format("more than {} labels", bounds_.labels), errc::overloaded);
      if (out_.labels.size() == count) out_.labels.emplace_back();
      for (std::size_t i = 0; i < count; ++i) {
        if (out_.labels[i].first == name)
          return refuse(fmt::format("label {} is given twice", in_quotes(name)));
      }
      auto& [key, value] = out_.labels[count++];
      key = name;
      if (!read_label_value(line, value))
        return refuse(fmt::format("the value of label {} does not end in a double quote", in_quotes(name)));
      if (name.size() > bounds_.text || value.size() > bounds_.text) {
        return refuse(fmt::format("label {} is longer than {} bytes", in_quotes(name), bounds_.text),
                      errc::overloaded);
      }
      skip_blanks(line);
      if (line.starts_with(',')) {
        line.remove_prefix(1);
      } else if (!line.starts_with('}')) {
        return refuse("a comma or } must follow a label");
      }
    }
    line.remove_prefix(1);
    return true;
  }

  /// Reads up to the closing quote and takes it off, too. An unknown escape stays as it is, as in Prometheus.
  static bool read_label_value(std::string_view& line, std::string& out) {
    std::size_t stop = 0;
    while (stop < line.size() && line[stop] != '"' && line[stop] != '\\') ++stop;
    out.assign(line.substr(0, stop));
    line.remove_prefix(stop);
    while (!line.empty()) {
      const char c = line.front();
      line.remove_prefix(1);
      if (c == '"') return true;
      if (c != '\\' || line.empty()) {
        out += c;
        continue;
      }
      const char escaped = line.front();
      line.remove_prefix(1);
      if (escaped != 'n' && escaped != '\\' && escaped != '"') out += '\\';
      out += escaped == 'n' ? '\n' : escaped;
    }
    return false;
  }

  /// Type and help of the family that `name` belongs to.
  void describe(std::string_view name) {
    out_.type = kind::gauge;
    out_.help = {};
    out_.part = {};
    if (families_.empty()) return;
    if (const auto own = families_.find(name); own != families_.end()) {
      out_.type = series_kind(own->second.type, {});
      out_.help = own->second.help;
      return;
    }
    for (std::string_view suffix : suffixes) {
      if (!name.ends_with(suffix)) continue;
      const auto base = families_.find(name.substr(0, name.size() - suffix.size()));
      if (base == families_.end() || base->second.type == shape::gauge) continue;
      out_.type = series_kind(base->second.type, suffix);
      out_.part = suffix;
      out_.help = base->second.help;
      return;
    }
  }

  const limits bounds_;
  const bool seconds_;  // OpenMetrics: timestamps are in seconds, and the text ends with # EOF
  const std::function<void(const sample&)> on_sample_;
  std::string begun_;  // the beginning of a line whose end has not arrived yet
  std::size_t bytes_ = 0;
  std::size_t line_number_ = 0;
  bool ended_ = false;  // # EOF was read
  bool failed_ = false;
  std::size_t series_ = 0;
  std::unordered_map<std::string, family_lines, keyed_hash, std::equal_to<>> families_;
  sample out_;
  error failure_;
};

parser::parser(const limits& bounds, form what, std::function<void(const sample&)> on_sample)
    : impl_(std::make_unique<impl>(bounds, what, std::move(on_sample))) {}
parser::~parser() = default;
result<void> parser::feed(std::string_view piece) { return impl_->feed(piece); }
result<void> parser::finish() { return impl_->finish(); }

result<void> parse(std::string_view text, const limits& bounds,
                   const std::function<void(const sample&)>& on_sample) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  std::string_view trimmed = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  const bool open = is_eof(trimmed.substr(trimmed.rfind('\n') + 1));
  parser p(bounds, open ? form::openmetrics : form::plain, on_sample);
  if (const auto fed = p.feed(text); !fed) return fed;
  return p.finish();
}

}  // namespace binnacle::exposition
