#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// What the numbers of a tensor are, whatever a protocol calls them.
enum class number : std::uint8_t { none, fp16, bf16, fp32, fp64, i8, i16, i32, i64, u8, u16, u32, u64 };

/// V2's "FP32"…; none: BOOL, BYTES, or what is not known.
number number_of_v2(std::string_view datatype) noexcept;
/// TensorFlow's DataType.
number number_of_tf(std::int32_t dtype) noexcept;

/// 16 bits as a number. Source: IEEE 754 binary16; bfloat16 is the upper half of a binary32.
double from_half(std::uint16_t bits) noexcept;
double from_bfloat(std::uint16_t bits) noexcept;

/// Numbers that stand one behind the other, little-endian. Errors: protocol, a clause: they are of no such
/// type, or the last one is cut.
result<std::vector<double>> numbers_in(std::string_view bytes, number type);

}  // namespace binnacle::model_servers
