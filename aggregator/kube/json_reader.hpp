#pragma once

#include "common/error.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace binnacle::kube {

/// Reads JSON whose members a stranger may have chosen, in pieces. What nobody needs is left out:
/// - Members of an object beyond the first `most_members`. Boost.JSON's hash has no secret, so that chosen
/// names
///   collide, and reading costs the square of their number. Who gives a pod more annotations harms that pod.
/// - `managedFields` of metadata, which has the names of all members again.
class json_reader {
 public:
  static constexpr std::size_t most_members = 512;
  /// Members beyond the most, somewhere in a value.
  struct cut {
    /// In this element of an array that is a member of the value, as `items` of a list; none: elsewhere.
    std::optional<std::size_t> item;
    std::size_t members = 0;
  };

  json_reader();
  ~json_reader();
  json_reader(const json_reader&) = delete;
  json_reader& operator=(const json_reader&) = delete;

  /// Reads until one value is complete or the bytes end. Returns how many bytes it took; white space behind a
  /// value that is complete may be among them. `more`: other bytes may follow. Errors: protocol.
  result<std::size_t> read(std::string_view bytes, bool more);
  bool is_complete() const;
  /// The complete value. The reader begins anew.
  boost::json::value take();
  /// What the values taken since the last call have lost; in order, each item once.
  std::vector<cut> take_cuts();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::kube
