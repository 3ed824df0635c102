#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Reads answers of a server that may be of another version: a member that is missing or of another type
/// reads as nothing.
namespace binnacle::cli {

namespace json = boost::json;

/// The member `key`, or null; also null if `v` is no object.
const json::value* member(const json::value& v, std::string_view key) noexcept;
/// The elements of the member `key`; empty if it is no list.
const json::array& list(const json::value& v, std::string_view key) noexcept;
const json::object& object(const json::value& v, std::string_view key) noexcept;
/// The string as for_terminal() makes it, because a server may send any. Empty if `v`, or the member, is no
/// string.
std::string text(const json::value& v);
std::string text(const json::value& v, std::string_view key);
std::optional<double> number(const json::value& v, std::string_view key) noexcept;
std::int64_t integer(const json::value& v, std::string_view key, std::int64_t otherwise = 0) noexcept;
bool flag(const json::value& v, std::string_view key) noexcept;

/// `v` as JSON text, with numbers as people write them: Boost.JSON's own serializer writes 101.6 as 1.016E2.
std::string to_text(const json::value& v);

}  // namespace binnacle::cli
