#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a V2 model takes, by its metadata: what its server says of it. Pure.
namespace binnacle::model_servers {

/// How a V2 model is given its input. As WAO's models take it, unless its metadata say otherwise.
struct model_input {
  enum class shape : std::uint8_t {
    rows,  ///< [n,3]
    row,   ///< [1,3]: one load a call
    bare,  ///< [3]: one load a call, too
  };
  std::string name = "predict-prob";
  bool fp64 = false;  ///< else FP32
  shape of = shape::rows;

  bool one_at_a_time() const noexcept { return of != shape::rows; }
  friend bool operator==(const model_input&, const model_input&) = default;
};

/// Metadata may describe more: only so many inputs are read, and of each only so many sizes.
inline constexpr std::size_t most_inputs = 16, most_sizes = 16;

/// One input, as metadata describe it.
struct described_input {
  std::string name, datatype;
  std::vector<std::int64_t> shape;  ///< -1: any size
};

/// The inputs in metadata that came over REST with status 200. Empty: they say nothing of them, as MLServer's
/// usually do, or are no metadata.
std::vector<described_input> described_in(std::string_view body);

/// What to give a model with these inputs, if each load is so many numbers. Errors: invalid_input, a clause:
/// the model cannot be asked.
result<model_input> input_of(const std::vector<described_input>& described, std::size_t numbers);

}  // namespace binnacle::model_servers
