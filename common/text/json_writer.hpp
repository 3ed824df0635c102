#pragma once

#include "common/decimal.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle {

/// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, as in Go's
/// encoder, so that an answer that repeats parts of a request is always valid JSON. Characters that
/// is_unseen() are escaped, because people print answers in a terminal, and nodes say what they like.
void append_json_string(std::string& out, std::string_view text);

/// `compact` JSON over several lines, two spaces a level, the way kube-apiserver answers `?pretty=true`.
/// `compact` must be valid.
std::string pretty_json(std::string_view compact);

/// Writes JSON front to back into one string, without a tree: for answers that list thousands of nodes. It
/// sets the commas; the caller must close everything that it opens. At most 63 levels deep.
class json_writer {
 public:
  explicit json_writer(std::string& out) : out_(out) {}

  json_writer& begin_object() { return open('{'); }
  json_writer& end_object() { return close('}'); }
  json_writer& begin_array() { return open('['); }
  json_writer& end_array() { return close(']'); }
  json_writer& key(std::string_view name);

  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(const std::string& text) { return value(std::string_view(text)); }
  json_writer& value(bool b) { return raw(b ? "true" : "false"); }
  json_writer& value(decimal d) { return raw(to_string(d)); }  ///< exactly the digits of its resolution
  json_writer& value(double) = delete;  // give a decimal, which has a resolution, or say the digits: figure()
  template <std::integral Integer>
  json_writer& value(Integer n) {
    return raw(std::to_string(n));
  }
  /// A double with `digits` digits after the point; null if it is infinite or no number, which JSON cannot
  /// say.
  json_writer& figure(double v, int digits);
  json_writer& null() { return raw("null"); }
  /// Ready-made JSON as one value.
  json_writer& raw(std::string_view json);

  template <class Value>
  json_writer& field(std::string_view name, const Value& v) {
    key(name);
    return value(v);
  }

 private:
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  void separate();

  std::string& out_;
  std::uint64_t filled_ = 0;  // one bit per level, bit 0 the innermost: it has an element already
  bool after_key_ = false;
};

}  // namespace binnacle
