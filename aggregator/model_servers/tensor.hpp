#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// The type of a tensor's numbers, for both protocols.
enum class number : std::uint8_t { none, fp16, bf16, fp32, fp64, i8, i16, i32, i64, u8, u16, u32, u64 };

/// From V2's names ("FP32"…); `none` for BOOL, BYTES and unknown names.
number number_of_v2(std::string_view datatype) noexcept;
/// TensorFlow's DataType.
number number_of_tf(std::int32_t dtype) noexcept;

/// Reads 16 bits as a number. Source: IEEE 754 binary16; bfloat16 is the upper half of a binary32.
double from_half(std::uint16_t bits) noexcept;
double from_bfloat(std::uint16_t bits) noexcept;

/// Reads numbers that follow one another, little-endian, and leaves out those beyond `most`. Errors:
/// protocol, a clause: the type is `none`, or the last number is cut off.
result<std::vector<double>> numbers_in(std::string_view bytes, number type, std::size_t most);

}  // namespace binnacle::model_servers
