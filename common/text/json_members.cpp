#include "common/text/json_members.hpp"

namespace binnacle {

namespace json = boost::json;

const json::object* object_in(const json::object& from, std::string_view name) noexcept {
  const json::value* v = from.if_contains(name);
  return v == nullptr ? nullptr : v->if_object();
}

const json::array& array_in(const json::object& from, std::string_view name) noexcept {
  static const json::array none;
  const json::value* v = from.if_contains(name);
  const json::array* a = v == nullptr ? nullptr : v->if_array();
  return a == nullptr ? none : *a;
}

std::string_view text_in(const json::object& from, std::string_view name) noexcept {
  const json::value* v = from.if_contains(name);
  const json::string* s = v == nullptr ? nullptr : v->if_string();
  return s == nullptr ? std::string_view() : std::string_view(*s);
}

std::optional<std::int64_t> integer_in(const json::object& from, std::string_view name) noexcept {
  const json::value* v = from.if_contains(name);
  if (v == nullptr || !v->is_number()) return std::nullopt;
  json::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  return ec ? std::nullopt : std::optional(n);
}

bool is_true(const json::object& from, std::string_view name) noexcept {
  const json::value* v = from.if_contains(name);
  return v != nullptr && v->is_bool() && v->get_bool();
}

}  // namespace binnacle
