#include "cli/json.hpp"

namespace binnacle::cli {

const json::value* member(const json::value& v, std::string_view key) noexcept {
  const json::object* o = v.if_object();
  return o == nullptr ? nullptr : o->if_contains(key);
}

const json::array& list(const json::value& v, std::string_view key) noexcept {
  static const json::array none;
  const json::value* m = member(v, key);
  const json::array* a = m == nullptr ? nullptr : m->if_array();
  return a == nullptr ? none : *a;
}

const json::object& object(const json::value& v, std::string_view key) noexcept {
  static const json::object none;
  const json::value* m = member(v, key);
  const json::object* o = m == nullptr ? nullptr : m->if_object();
  return o == nullptr ? none : *o;
}

std::string text(const json::value& v, std::string_view key) {
  const json::value* m = member(v, key);
  const json::string* s = m == nullptr ? nullptr : m->if_string();
  return s == nullptr ? std::string() : std::string(*s);
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

bool flag(const json::value& v, std::string_view key) noexcept {
  const json::value* m = member(v, key);
  const bool* b = m == nullptr ? nullptr : m->if_bool();
  return b != nullptr && *b;
}

}  // namespace binnacle::cli
