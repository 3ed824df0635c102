#include "cli/json.hpp"

#include "cli/terminal_text.hpp"
#include "common/text/json_members.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

namespace binnacle::cli {

const json::value* member(const json::value& v, std::string_view key) noexcept {
  const json::object* o = v.if_object();
  return o == nullptr ? nullptr : o->if_contains(key);
}

namespace {

const json::object& as_object(const json::value& v) noexcept {
  static const json::object none;
  const json::object* o = v.if_object();
  return o == nullptr ? none : *o;
}

}  // namespace

const json::array& list(const json::value& v, std::string_view key) noexcept {
  return array_in(as_object(v), key);
}

const json::object& object(const json::value& v, std::string_view key) noexcept {
  const json::value* m = member(v, key);
  return m == nullptr ? as_object(json::value()) : as_object(*m);
}

std::string text(const json::value& v) {
  const json::string* s = v.if_string();
  return s == nullptr ? std::string() : for_terminal(*s);
}

std::string text(const json::value& v, std::string_view key) {
  return for_terminal(text_in(as_object(v), key));
}

std::optional<double> number(const json::value& v, std::string_view key) noexcept {
  const json::value* m = member(v, key);
  if (m == nullptr) return std::nullopt;
  if (const auto* d = m->if_double()) return *d;
  if (const auto* i = m->if_int64()) return static_cast<double>(*i);
  if (const auto* u = m->if_uint64()) return static_cast<double>(*u);
  return std::nullopt;
}

std::int64_t integer(const json::value& v, std::string_view key, std::int64_t otherwise) noexcept {
  const auto n = number(v, key);
  return n && *n > -9e18 && *n < 9e18 ? static_cast<std::int64_t>(*n) : otherwise;
}

bool flag(const json::value& v, std::string_view key) noexcept { return is_true(as_object(v), key); }

namespace {

void write(json_writer& out, const json::value& v) {
  switch (v.kind()) {
    case json::kind::null: out.null(); break;
    case json::kind::bool_: out.value(v.get_bool()); break;
    case json::kind::int64: out.value(v.get_int64()); break;
    case json::kind::uint64: out.value(v.get_uint64()); break;
    case json::kind::double_: out.raw(fmt::format("{}", v.get_double())); break;
    case json::kind::string: out.value(std::string_view(v.get_string())); break;
    case json::kind::array:
      out.begin_array();
      for (const auto& element : v.get_array()) write(out, element);
      out.end_array();
      break;
    case json::kind::object:
      out.begin_object();
      for (const auto& m : v.get_object()) {
        out.key(m.key());
        write(out, m.value());
      }
      out.end_object();
      break;
  }
}

}  // namespace

std::string to_text(const json::value& v) {
  std::string text;
  json_writer out(text);
  write(out, v);
  return text;
}

}  // namespace binnacle::cli
