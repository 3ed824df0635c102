#pragma once

#include "common/error.hpp"

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace binnacle {

/// Reads JSON whose members a stranger may have chosen, in pieces. What nobody needs is left out:
/// - Members of an object beyond the first `most_members`. Boost.JSON's hash has no secret, so that chosen
///   names collide, and reading costs the square of their number. Who gives a pod more annotations harms that
///   pod.
/// - Members and elements beyond `most_in_all`: each takes 24 bytes or more, and its text perhaps two.
/// - `managedFields` of metadata, which has the names of all members again.
class json_reader {
 public:
  static constexpr std::size_t most_members = 512;
  /// Takes an element of the member `items` of a value, as soon as it is complete, and how many members it
  /// has lost. The value itself has no elements there then. So a list takes as much memory as one of its
  /// elements.
  using item_taker = std::function<void(boost::json::value item, std::size_t members_left_out)>;

  /// Values are made in `memory`. Without `each`, items are as all other members. `most_in_all`: how many
  /// members are kept of all objects together, and how many elements of all lists together.
  explicit json_reader(item_taker each = nullptr, boost::json::storage_ptr memory = {},
                       std::size_t most_in_all = static_cast<std::size_t>(-1));
  ~json_reader();
  json_reader(const json_reader&) = delete;
  json_reader& operator=(const json_reader&) = delete;

  /// Reads until one value is complete or the bytes end. Returns how many bytes it took; white space behind a
  /// value that is complete may be among them. `more`: other bytes may follow. Errors: protocol.
  result<std::size_t> read(std::string_view bytes, bool more);
  bool is_complete() const;
  /// The complete value. The reader begins anew.
  boost::json::value take();
  /// How many members and elements the value taken last has lost; those of items that were given away do not
  /// count.
  std::size_t members_left_out() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// `text` as one JSON value, made in `memory`, without members beyond json_reader::most_members of an object
/// and beyond 16,384 in all, and without elements of lists beyond 16,384 in all: names of a stranger's choice
/// cost some 10 ms at most, and 1 MiB of lists 4 ms in place of 37. Errors: protocol.
result<boost::json::value> read_json(std::string_view text, boost::json::storage_ptr memory = {});

}  // namespace binnacle
