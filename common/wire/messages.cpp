#include "common/wire/messages.hpp"

#include "common/wire/absence_codec.hpp"

#include <array>

namespace binnacle::wire {
namespace {

struct names {
  absence reason;
  schema::Absence wire;
  std::string_view name;
};
// In the order of `absence`.
constexpr std::array<names, 14> table = {{
    {absence::none, schema::Absence::OTHER, "none"},
    {absence::not_read_yet, schema::Absence::NOT_READ_YET, "not_read_yet"},
    {absence::missing, schema::Absence::MISSING, "missing"},
    {absence::permission, schema::Absence::PERMISSION, "permission"},
    {absence::malformed, schema::Absence::MALFORMED, "malformed"},
    {absence::timeout, schema::Absence::TIMEOUT, "timeout"},
    {absence::no_data, schema::Absence::NO_DATA, "no_data"},
    {absence::reset, schema::Absence::RESET, "reset"},
    {absence::gap, schema::Absence::GAP, "gap"},
    {absence::not_running, schema::Absence::NOT_RUNNING, "not_running"},
    {absence::out_of_range, schema::Absence::OUT_OF_RANGE, "out_of_range"},
    {absence::stale, schema::Absence::OTHER, "stale"},
    {absence::disconnected, schema::Absence::OTHER, "disconnected"},
    {absence::other, schema::Absence::OTHER, "other"},
}};

}  // namespace

std::string_view to_string(absence reason) noexcept {
  const auto i = static_cast<std::size_t>(reason);
  return i < table.size() ? table[i].name : "other";
}

namespace detail {

schema::Absence to_schema(absence reason) noexcept {
  const auto i = static_cast<std::size_t>(reason);
  return i < table.size() ? table[i].wire : schema::Absence::OTHER;
}

absence from_schema(schema::Absence reason) noexcept {
  if (reason == schema::Absence::OTHER) return absence::other;
  for (const names& n : table)
    if (n.wire == reason) return n.reason;
  return absence::other;
}

}  // namespace detail
}  // namespace binnacle::wire
