#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

/// Members of JSON that others wrote. Nothing is taken for granted: a member that is missing, or that has
/// another type, reads as nothing. Keys are those of `from` itself; nothing looks inside its members.
namespace binnacle {

/// The member of that name if it is an object, else null.
const boost::json::object* object_in(const boost::json::object& from, std::string_view name) noexcept;
/// The member if it is an array, else one that is empty. A loop over it copies nothing.
const boost::json::array& array_in(const boost::json::object& from, std::string_view name) noexcept;
/// The member if it is a string, else empty.
std::string_view text_in(const boost::json::object& from, std::string_view name) noexcept;
/// The member if it is an integer that fits, else nothing. 3.0 is an integer, too.
std::optional<std::int64_t> integer_in(const boost::json::object& from, std::string_view name) noexcept;
/// Whether the member is `true`.
bool is_true(const boost::json::object& from, std::string_view name) noexcept;

}  // namespace binnacle
