#include "aggregator/model_servers/tensor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace binnacle::model_servers {
namespace {

/// The bytes are little-endian, and so is every machine that we build for (x86-64, arm64).
static_assert(std::endian::native == std::endian::little);

template <class T>
std::vector<double> as(std::string_view bytes) {
  std::vector<double> out;
  out.reserve(bytes.size() / sizeof(T));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T one{};
    std::memcpy(&one, bytes.data() + at, sizeof one);
    out.push_back(static_cast<double>(one));
  }
  return out;
}

std::size_t size_of(number type) noexcept {
  switch (type) {
    case number::none: return 0;
    case number::i8:
    case number::u8: return 1;
    case number::fp16:
    case number::bf16:
    case number::i16:
    case number::u16: return 2;
    case number::fp32:
    case number::i32:
    case number::u32: return 4;
    case number::fp64:
    case number::i64:
    case number::u64: return 8;
  }
  return 0;
}

}  // namespace

number number_of_v2(std::string_view datatype) noexcept {
  constexpr std::array<std::pair<std::string_view, number>, 12> all{{{"FP16", number::fp16},
                                                                     {"BF16", number::bf16},
                                                                     {"FP32", number::fp32},
                                                                     {"FP64", number::fp64},
                                                                     {"INT8", number::i8},
                                                                     {"INT16", number::i16},
                                                                     {"INT32", number::i32},
                                                                     {"INT64", number::i64},
                                                                     {"UINT8", number::u8},
                                                                     {"UINT16", number::u16},
                                                                     {"UINT32", number::u32},
                                                                     {"UINT64", number::u64}}};
  for (const auto& [name, type] : all) {
    if (name == datatype) return type;
  }
  return number::none;
}

number number_of_tf(std::int32_t dtype) noexcept {
  switch (dtype) {
    case 1: return number::fp32;
    case 2: return number::fp64;
    case 3: return number::i32;
    case 9: return number::i64;
    case 14: return number::bf16;
    case 19: return number::fp16;
    default: return number::none;
  }
}

double from_half(std::uint16_t bits) noexcept {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const auto exponent = static_cast<int>(bits >> 10U & 0x1fU);
  const double fraction = (bits & 0x3ffU) / 1024.0;
  if (exponent == 0) return sign * std::ldexp(fraction, -14);
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * std::ldexp(1 + fraction, exponent - 15);
}

double from_bfloat(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

result<std::vector<double>> numbers_in(std::string_view bytes, number type, std::size_t most) {
  const std::size_t size = size_of(type);
  if (size == 0) return error{errc::protocol, "the answer's values are no numbers"};
  if (bytes.size() % size != 0) return error{errc::protocol, "the answer's last value is cut"};
  bytes = bytes.substr(0, std::min(bytes.size() / size, most) * size);
  switch (type) {
    case number::fp32: return as<float>(bytes);
    case number::fp64: return as<double>(bytes);
    case number::i8: return as<std::int8_t>(bytes);
    case number::i16: return as<std::int16_t>(bytes);
    case number::i32: return as<std::int32_t>(bytes);
    case number::i64: return as<std::int64_t>(bytes);
    case number::u8: return as<std::uint8_t>(bytes);
    case number::u32: return as<std::uint32_t>(bytes);
    case number::u64: return as<std::uint64_t>(bytes);
    default: break;
  }
  auto out = as<std::uint16_t>(bytes);
  if (type == number::u16) return out;
  for (double& one : out) {
    const auto bits = static_cast<std::uint16_t>(one);
    one = type == number::fp16 ? from_half(bits) : from_bfloat(bits);
  }
  return out;
}

}  // namespace binnacle::model_servers
