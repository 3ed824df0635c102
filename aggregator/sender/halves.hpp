#pragma once

#include <cstddef>
#include <protozero/types.hpp>
#include <span>
#include <string>
#include <string_view>

namespace binnacle::sender {

/// A part of a request, as a request of its own.
struct part {
  std::string body;  ///< compressed, as the whole was
  std::size_t samples = 0;
  std::size_t nodes = 0;
};

/// A request in two, each with one half of the nodes. With only one node in it, the second is empty.
struct halves {
  part first, second;
};

/// One of the messages that a request is a list of.
struct list_item {
  std::string_view message;
  std::size_t samples = 1;
  bool begins_node = false;  ///< the message before it is of another node
};

/// Cuts a request's list between two nodes. `before` is what each half begins with, `field` the list's
/// number, `pack` the compression. Pure.
halves in_halves(std::span<const list_item> list, std::string_view before, protozero::pbf_tag_type field,
                 std::string (*pack)(const std::string& plain));

}  // namespace binnacle::sender
