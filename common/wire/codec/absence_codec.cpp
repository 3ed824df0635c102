#include "common/wire/codec/absence_codec.hpp"

#include <array>

namespace binnacle::wire::detail {
namespace {

struct pair {
  absence reason;
  schema::Absence wire;
};
// In the order of `absence`.
constexpr std::array<pair, 18> table = {{
    {absence::none, schema::Absence::OTHER},
    {absence::not_read_yet, schema::Absence::NOT_READ_YET},
    {absence::missing, schema::Absence::MISSING},
    {absence::permission, schema::Absence::PERMISSION},
    {absence::malformed, schema::Absence::MALFORMED},
    {absence::timeout, schema::Absence::TIMEOUT},
    {absence::no_data, schema::Absence::NO_DATA},
    {absence::reset, schema::Absence::RESET},
    {absence::gap, schema::Absence::GAP},
    {absence::not_running, schema::Absence::NOT_RUNNING},
    {absence::out_of_range, schema::Absence::OUT_OF_RANGE},
    {absence::frozen, schema::Absence::FROZEN},
    {absence::never_moved, schema::Absence::NEVER_MOVED},
    {absence::stands_still, schema::Absence::STANDS_STILL},
    {absence::implausible, schema::Absence::IMPLAUSIBLE},
    {absence::stale, schema::Absence::OTHER},
    {absence::disconnected, schema::Absence::OTHER},
    {absence::other, schema::Absence::OTHER},
}};

}  // namespace

schema::Absence to_schema(absence reason) noexcept {
  const auto i = static_cast<std::size_t>(reason);
  return i < table.size() ? table[i].wire : schema::Absence::OTHER;
}

absence from_schema(schema::Absence reason) noexcept {
  if (reason == schema::Absence::OTHER) return absence::other;
  for (const pair& p : table)
    if (p.wire == reason) return p.reason;
  return absence::other;
}

}  // namespace binnacle::wire::detail
