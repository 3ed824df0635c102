#include "aggregator/state/state_seal.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace binnacle::aggregator {
namespace {

constexpr std::string_view seal_mark = "BNCLSEAL";
static_assert(seal_mark.size() + sizeof(std::uint32_t) == state_seal::size);

}  // namespace

std::array<std::byte, state_seal::size> state_seal::bytes() const {
  std::array<std::byte, size> out{};
  const auto mark = std::as_bytes(std::span(seal_mark));
  std::ranges::copy(mark, out.begin());
  boost::endian::store_little_u32(reinterpret_cast<unsigned char*>(&out[seal_mark.size()]), sum_.checksum());
  return out;
}

result<std::span<const std::byte>> without_seal(std::span<const std::byte> file) {
  if (file.size() < state_seal::size) return file;
  const auto found = file.last(state_seal::size);
  if (!std::ranges::equal(found.first(seal_mark.size()), std::as_bytes(std::span(seal_mark)))) return file;
  const auto rest = file.first(file.size() - state_seal::size);
  state_seal expected;
  expected.add(rest);
  if (!std::ranges::equal(found, expected.bytes()))
    return error{errc::invalid_input, "its checksum is wrong: the file is not as it was written"};
  return rest;
}

}  // namespace binnacle::aggregator
