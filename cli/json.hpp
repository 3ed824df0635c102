#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Reading answers of a server that may be of another version: what is not there, or of another type, reads
/// as nothing.
namespace binnacle::cli {

namespace json = boost::json;

/// The member, or null; also when `v` is no object.
const json::value* member(const json::value& v, std::string_view key) noexcept;
/// The members' elements; empty when there is no such list.
const json::array& list(const json::value& v, std::string_view key) noexcept;
const json::object& object(const json::value& v, std::string_view key) noexcept;
/// For people: a server of another hand may send what a terminal would obey; a '?' stands for that. Empty
/// when `v`, or the member, is no string.
std::string text(const json::value& v);
std::string text(const json::value& v, std::string_view key);
std::optional<double> number(const json::value& v, std::string_view key) noexcept;
std::int64_t integer(const json::value& v, std::string_view key, std::int64_t otherwise = 0) noexcept;
bool flag(const json::value& v, std::string_view key) noexcept;

/// `v` as JSON text with numbers as people write them: Boost.JSON's own serializer makes 1.016E2 of 101.6.
std::string to_text(const json::value& v);

}  // namespace binnacle::cli
