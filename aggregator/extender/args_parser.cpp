#include "aggregator/extender/args_parser.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

namespace binnacle::extender {
namespace {

constexpr std::string_view expected_shape =
    "expected ExtenderArgs: an object with Pod and NodeNames or Nodes";

/// The outer levels that this parser walks itself: args, Nodes, items. The nesting of a value comes on top.
constexpr std::size_t outer_levels = 3;

boost::json::parse_options document_options(const args_limits& limits) {
  boost::json::parse_options options;
  options.max_depth = limits.depth - outer_levels;
  return options;
}

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

constexpr bool is_plain(char c) noexcept {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<signed char>(c) > 0 && c != '"' && c != '\\';
}

/// Skips the characters that stand for themselves in a JSON string (ASCII except control characters, quote
/// and backslash), and returns where they end. It tests eight bytes at a time, because it sees every byte of
/// every name. Source of the byte tests: H. Warren, Hacker's Delight, 6-1 "zero bytes".
const char* skip_plain(const char* p, const char* end) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
  const auto zero = [](std::uint64_t v) { return (v - ones) & ~v; };
  while (std::endian::native == std::endian::little && end - p >= 8) {
    std::uint64_t v;
    std::memcpy(&v, p, sizeof v);
    const std::uint64_t other =
        (v | ((v - ones * 0x20) & ~v) | zero(v ^ ones * '"') | zero(v ^ ones * '\\')) & highs;
    if (other != 0) return p + std::countr_zero(other) / 8;
    p += 8;
  }
  while (p != end && is_plain(*p)) ++p;
  return p;
}

std::string_view kind_of(char first) noexcept {
  switch (first) {
    case '{': return "an object";
    case '[': return "an array";
    case '"': return "a string";
    case 't':
    case 'f': return "a boolean";
    case 'n': return "null";
    default: return (first >= '0' && first <= '9') || first == '-' ? "a number" : "";
  }
}

}  // namespace

args_parser::args_parser(args_sink& sink, args_limits limits, std::size_t announced)
    : sink_(sink), limits_(limits), announced_(announced), document_(document_options(limits)) {}

bool args_parser::consume(std::string_view piece) {
  if (failed()) return false;
  if (before_ + piece.size() > limits_.bytes) {
    too_large_ = true;
    fail(fmt::format("the body is larger than the limit of {} bytes", limits_.bytes));
    return false;
  }
  piece_ = piece.data();
  const char* p = piece.data();
  const char* const end = p + piece.size();
  while (p != end && !failed()) p = in_document_ ? feed(p, end) : step(p, end);
  before_ += piece.size();
  return !failed();
}

result<void> args_parser::finish() {
  if (!failed() && expect_ != expect::nothing) {
    if (level_ == level::outside)
      fail(fmt::format("the body is empty: {}", expected_shape));
    else
      fail(fmt::format("the body ends after {} bytes in the middle of its JSON", before_));
  }
  if (!failed() && !has_pod_) fail(fmt::format("Pod is null or absent: {}", expected_shape));
  if (!failed() && !has_names_ && !has_nodes_)
    fail(fmt::format("NodeNames and Nodes are both null or absent: {}", expected_shape));
  if (failed()) return error{errc::invalid_input, problem_};
  return {};
}

/// Reads one token of the outer levels.
const char* args_parser::step(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  if (p == end) return p;
  const bool array = level_ == level::names || level_ == level::items;
  switch (expect_) {
    case expect::value_or_end:
      if (*p == ']') return close_level(p);
      [[fallthrough]];
    case expect::value: return begin_value(p, end);
    case expect::comma_or_end:
      if (*p == ',') {
        expect_ = array ? expect::value : expect::key;
        return p + 1;
      }
      if (*p == (array ? ']' : '}')) return close_level(p);
      return syntax(p, array ? "',' or ']'" : "',' or '}'");
    case expect::key_or_end:
      if (*p == '}') return close_level(p);
      [[fallthrough]];
    case expect::key:
      if (*p != '"') return syntax(p, "a key in quotes");
      slot_ = slot::key;
      begin_document(object_handler::want::text);
      return p;
    case expect::colon:
      if (*p != ':') return syntax(p, "':'");
      expect_ = expect::value;
      return p + 1;
    case expect::nothing: return end;  // Go reads the first value of a body and leaves the rest alone
  }
  return end;
}

const char* args_parser::begin_value(const char* p, const char* end) {
  using want = object_handler::want;
  if (level_ == level::names) slot_ = slot::name;
  if (level_ == level::items) slot_ = slot::item;
  const bool null = *p == 'n';
  switch (slot_) {
    case slot::args:
      if (*p != '{') return wrong_kind(p, "an object");
      enter(level::args, expect::key_or_end);
      return p + 1;
    case slot::nodes:
      if (null) break;
      if (*p != '{') return wrong_kind(p, "an object or null");
      has_nodes_ = true;
      enter(level::nodes, expect::key_or_end);
      return p + 1;
    case slot::names:
    case slot::items:
      if (null) break;
      if (*p != '[') return wrong_kind(p, "an array or null");
      (slot_ == slot::names ? has_names_ : has_nodes_) = true;
      if (slot_ == slot::names) names_.reserve(announced_);
      enter(slot_ == slot::names ? level::names : level::items, expect::value_or_end);
      return p + 1;
    case slot::name:
      if (*p != '"') return wrong_kind(p, "a string");
      if (const char* after = plain_names(p, end)) return after;
      begin_document(want::text);
      return p;
    case slot::pod:
    case slot::item:
      if (*p != '{' && !(null && slot_ == slot::pod)) return wrong_kind(p, "an object");
      begin_document(want::meta);
      is_null_ = null;
      return p;
    case slot::key:
    case slot::skip: break;
  }
  begin_document(want::nothing);
  return p;
}

/// Reads the names from `p` on that are whole in this piece and have nothing to unescape. Usually these are
/// all names except the one that is cut by the border of two pieces. Null if there is none.
const char* args_parser::plain_names(const char* p, const char* end) {
  const char* at = p;  // the quote before a name
  for (;;) {
    const char* const name = at + 1;
    const char* const quote = skip_plain(name, end);
    if (quote == end || *quote != '"') break;
    const auto length = static_cast<std::size_t>(quote - name);
    if (!good_name(length, names_)) return end;
    names_.refer(static_cast<std::size_t>(name - p), length);
    at = quote + 1;
    expect_ = expect::comma_or_end;
    if (end - at < 2 || at[0] != ',' || at[1] != '"') break;
    ++at;
    expect_ = expect::value;
  }
  names_.add_text({p, static_cast<std::size_t>(at - p)});
  return at == p ? nullptr : at;
}

void args_parser::begin_document(object_handler::want want) {
  document_.reset();
  document_.handler().begin(want);
  in_document_ = true;
  is_null_ = false;
}

const char* args_parser::feed(const char* p, const char* end) {
  boost::json::error_code ec;
  const std::size_t used = document_.write_some(true, p, static_cast<std::size_t>(end - p), ec);
  if (ec) {
    if (document_.handler().too_long())
      return fail(fmt::format("{} holds a name longer than {} bytes", where(), object_handler::max_text));
    if (ec == boost::json::error::too_deep)
      return fail(fmt::format("{} is nested deeper than {} levels", where(), limits_.depth));
    return fail(fmt::format("{} is not JSON ({})", where(), ec.message()));
  }
  if (slot_ == slot::item) sink_.on_item_bytes({p, used});
  if (slot_ == slot::pod && limits_.pod_text != 0) keep_pod_text({p, used});
  if (document_.done()) value_ended();
  return p + used;
}

void args_parser::keep_pod_text(std::string_view bytes) {
  pod_text_fits_ = pod_text_fits_ && pod_text_.size() + bytes.size() <= limits_.pod_text;
  if (pod_text_fits_) {
    pod_text_ += bytes;
  } else {
    pod_text_.clear();
  }
}

void args_parser::value_ended() {
  in_document_ = false;
  expect_ = expect::comma_or_end;
  const object_handler& value = document_.handler();
  if (value.wrong_kind() != nullptr) {
    fail(fmt::format("the {} of {} is not a string", value.wrong_kind(), where()));
    return;
  }
  switch (slot_) {
    case slot::pod:
      if (is_null_) return;
      has_pod_ = true;
      pod_ = value.meta();
      sink_.on_pod();
      return;
    case slot::key: key_ended(value.text()); return;
    case slot::name:
      if (good_name(value.text().size(), names_)) names_.add(value.text());
      return;
    case slot::item:
      if (!good_name(value.meta().name.size(), items_)) return;
      items_.add(value.meta().name);
      if (!item_names_.again(items_, items_.size() - 1)) return sink_.on_item();
      items_.remove_last();
      ++repeated_items_;
      return sink_.on_repeated_item();
    default: return;
  }
}

void args_parser::key_ended(std::string_view key) {
  struct known {
    level where;
    std::string_view name;
    slot what;
  };
  static constexpr std::array<known, 4> keys{{{level::args, "pod", slot::pod},
                                              {level::args, "nodenames", slot::names},
                                              {level::args, "nodes", slot::nodes},
                                              {level::nodes, "items", slot::items}}};
  expect_ = expect::colon;
  slot_ = slot::skip;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].where != level_ || !same_key(key, keys[i].name)) continue;
    slot_ = keys[i].what;
    if ((seen_ >> i & 1) != 0) fail(fmt::format("key {} comes twice", key));
    seen_ = static_cast<std::uint8_t>(seen_ | 1u << i);
  }
}

void args_parser::enter(level inner, expect first) {
  level_ = inner;
  expect_ = first;
}

const char* args_parser::close_level(const char* p) {
  if (level_ == level::names) names_ended();
  expect_ = level_ == level::args ? expect::nothing : expect::comma_or_end;
  level_ = level_ == level::items ? level::nodes : level::args;
  return p + 1;
}

static_assert(args_limits{}.nodes <= repeats::most);

void args_parser::names_ended() {
  repeats seen;
  seen.reserve(names_.size());
  names_.remove_if([&](std::size_t i) { return seen.again(names_, i); });
}

/// Whether `list` has room for a name of that length. If not, the request fails.
bool args_parser::good_name(std::size_t length, const name_list& list) {
  if (length == 0) {
    fail(slot_ == slot::item ? fmt::format("{} has no metadata.name", where())
                             : fmt::format("{} is empty", where()));
  } else if (length > object_handler::max_text) {
    fail(fmt::format("{} holds a name longer than {} bytes", where(), object_handler::max_text));
  } else if (list.size() >= limits_.nodes) {
    too_large_ = true;
    fail(fmt::format("the request names more than {} nodes", limits_.nodes));
  }
  return !failed();
}

/// The name of the value that is being read, for messages.
std::string args_parser::where() const {
  switch (slot_) {
    case slot::args: return "the body";
    case slot::pod: return "Pod";
    case slot::nodes: return "Nodes";
    case slot::names: return "NodeNames";
    case slot::name: return fmt::format("NodeNames[{}]", names_.size());
    case slot::items: return "Nodes.items";
    case slot::item: return fmt::format("Nodes.items[{}]", items_.size() + repeated_items_);
    case slot::key: return "a key";
    case slot::skip: return "the value of an unknown key";
  }
  return {};
}

const char* args_parser::fail(std::string sentence) {
  problem_ = std::move(sentence);
  return piece_;
}

const char* args_parser::syntax(const char* p, std::string_view wanted) {
  return fail(fmt::format("the body is not JSON: byte {} should be {}",
                          before_ + static_cast<std::size_t>(p - piece_) + 1, wanted));
}

const char* args_parser::wrong_kind(const char* p, std::string_view wanted) {
  const std::string_view kind = kind_of(*p);
  if (kind.empty()) return syntax(p, wanted);
  return fail(fmt::format("{} is {}, not {}{}{}", where(), kind, wanted, slot_ == slot::args ? ": " : "",
                          slot_ == slot::args ? expected_shape : ""));
}

}  // namespace binnacle::extender
