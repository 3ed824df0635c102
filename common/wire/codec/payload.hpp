#pragma once

#include "common/wire/codec/capnp.hpp"
#include "common/wire/codec/scratch.hpp"
#include "common/wire/frame.hpp"

#include <capnp/message.h>
#include <capnp/serialize-packed.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <kj/io.h>

#include <cstring>
#include <string>

/// Puts Cap'n Proto messages into frames and takes them out. Private to this room, the only one beside
/// aggregator/snapshot that includes capnp.
namespace binnacle::wire::detail {

/// The payload without its zstd layer. Errors: oversized (also when the content size is not stated),
/// bad_message.
outcome<std::span<const std::byte>> inflate(const frame_view& frame, scratch& space);

/// Compresses what `out` holds behind `at` + header, in place, if that makes it smaller by an eighth or more.
/// Returns whether it did.
bool deflate(bytes& out, std::size_t at);

/// Appends the built message as a frame. A large message goes unpacked through zstd if that makes it smaller;
/// all others are packed.
outcome<void> append(bytes& out, frame_kind kind, capnp::MessageBuilder& message);

/// The traversal limit lets a reader go through a column twice, not more (a batch's bitmap is read for its
/// values and for its absences).
inline capnp::ReaderOptions bounds(std::size_t words) {
  return {.traversalLimitInWords = 2 * words, .nestingLimit = 8};
}

inline fault malformed(const kj::Exception& e) {
  return {reason::bad_message, "not a well-formed message: " + std::string(e.getDescription().cStr())};
}

/// Memory in `space` that is aligned to words, for a message that is unpacked into it.
inline kj::ArrayPtr<capnp::word> aligned(scratch& space, std::size_t words) {
  space.unpacked += words * sizeof(capnp::word);
  if (space.words.size() < words) space.words.resize(words);
  return {reinterpret_cast<capnp::word*>(space.words.data()), words};
}

/// Opens the frame's payload, calls `use` with its root struct, and returns the result. Readers must not
/// outlive the call. An exception of Cap'n Proto (a pointer out of bounds, too deep, too long to walk)
/// becomes bad_message.
template <class Root, class Use>
outcome<void> with_root(const frame_view& frame, scratch& space, Use&& use) {
  const auto plain = inflate(frame, space);
  if (plain.has_error()) return plain.error();
  const std::span<const std::byte> data = *plain;
  try {
    if ((frame.flags & flag_packed) != 0) {
      const kj::ArrayPtr<const kj::byte> packed(reinterpret_cast<const kj::byte*>(data.data()), data.size());
      const std::size_t words = capnp::computeUnpackedSizeInWords(packed);
      if (words * sizeof(capnp::word) > max_message_bytes)
        return fault{reason::oversized,
                     "a message that unpacks to " + std::to_string(words * sizeof(capnp::word)) + " bytes"};
      kj::ArrayInputStream stream(packed);
      capnp::PackedMessageReader message(stream, bounds(words), aligned(space, words));
      return use(message.getRoot<Root>());
    }
    const std::size_t words = data.size() / sizeof(capnp::word);
    if (data.size() % sizeof(capnp::word) != 0)
      return fault{reason::bad_message, "an unpacked message of odd length"};
    const kj::ArrayPtr<const capnp::word> copy = aligned(space, words);
    if (words != 0) std::memcpy(space.words.data(), data.data(), data.size());
    capnp::FlatArrayMessageReader message(copy, bounds(words));
    return use(message.getRoot<Root>());
  } catch (const kj::Exception& e) {
    return malformed(e);
  }
}

/// Builds a message with `fill` and appends it as a frame.
template <class Root, class Fill>
outcome<void> append_root(bytes& out, frame_kind kind, Fill&& fill) {
  try {
    capnp::MallocMessageBuilder message;
    fill(message.initRoot<Root>());
    return append(out, kind, message);
  } catch (const kj::Exception& e) {
    return malformed(e);
  }
}

inline std::string_view view(capnp::Text::Reader text) { return {text.begin(), text.size()}; }
inline capnp::Text::Reader text(const std::string& s) { return {s.data(), s.size()}; }

}  // namespace binnacle::wire::detail
