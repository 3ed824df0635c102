#include "common/wire/codec/payload.hpp"

#include <limits>
#include <zstd.h>

namespace binnacle::wire::detail {
namespace {

// Below this size zstd's own header costs as much as zstd saves. Batches are always smaller.
constexpr std::size_t worth_compressing = 1'024;
constexpr int zstd_level = 3;

// The most bytes that packing makes of a word: tag, eight bytes, run length.
constexpr std::size_t worst_packed_word = 10;
// If less room than this is left, PackedOutputStream makes an extra copy.
constexpr std::size_t packing_slack = 32;

void append_packed(bytes& out, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments,
                   std::size_t words) {
  const std::size_t at = out.size();
  out.resize(at + words * worst_packed_word + packing_slack);
  kj::ArrayOutputStream stream(kj::arrayPtr(reinterpret_cast<kj::byte*>(out.data() + at), out.size() - at));
  capnp::writePackedMessage(stream, segments);
  out.resize(at + stream.getArray().size());
}

void append_flat(bytes& out, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments,
                 std::size_t words) {
  const std::size_t at = out.size();
  out.resize(at + words * sizeof(capnp::word));
  kj::ArrayOutputStream stream(kj::arrayPtr(reinterpret_cast<kj::byte*>(out.data() + at), out.size() - at));
  capnp::writeMessage(stream, segments);
}

}  // namespace

outcome<std::span<const std::byte>> inflate(const frame_view& frame, scratch& space) {
  if ((frame.flags & flag_zstd) == 0) return frame.payload;
  const auto size = ZSTD_getFrameContentSize(frame.payload.data(), frame.payload.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) return fault{reason::bad_message, "not a zstd frame"};
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size > max_message_bytes)
    return fault{reason::oversized,
                 "a zstd frame that does not state its size or unpacks to more than 4 MiB"};
  space.unpacked += size;
  space.inflated.resize(static_cast<std::size_t>(size));
  const auto got = ZSTD_decompress(space.inflated.data(), space.inflated.size(), frame.payload.data(),
                                   frame.payload.size());
  if (ZSTD_isError(got) != 0 || got != size) return fault{reason::bad_message, "a damaged zstd frame"};
  return std::span<const std::byte>(space.inflated);
}

bool deflate(bytes& out, std::size_t at) {
  const std::size_t from = at + frame_header_size, size = out.size() - from;
  bytes packed(ZSTD_compressBound(size));
  const auto got = ZSTD_compress(packed.data(), packed.size(), out.data() + from, size, zstd_level);
  if (ZSTD_isError(got) != 0 || got > size - size / 8) return false;
  out.resize(from + got);
  std::memcpy(out.data() + from, packed.data(), got);
  return true;
}

outcome<void> append(bytes& out, frame_kind kind, capnp::MessageBuilder& message) {
  const auto segments = message.getSegmentsForOutput();
  const std::size_t words = capnp::computeSerializedSizeInWords(segments);
  const std::size_t at = out.size();
  if (words * sizeof(capnp::word) > max_message_bytes)
    return fault{reason::oversized, "a message of " + std::to_string(words * sizeof(capnp::word)) +
                                        " bytes; at most 4 MiB can be sent"};

  std::uint8_t flags = 0;
  out.resize(at + frame_header_size);
  if (words * sizeof(capnp::word) >= worth_compressing && kind != frame_kind::batch) {
    append_flat(out, segments, words);
    if (deflate(out, at)) flags = flag_zstd;
  }
  if (flags == 0) {
    out.resize(at + frame_header_size);
    append_packed(out, segments, words);
    flags = flag_packed;
  }
  const std::size_t payload = out.size() - at - frame_header_size;
  if (payload > max_frame_payload) {
    out.resize(at);
    return fault{reason::oversized,
                 "a frame of " + std::to_string(payload) + " bytes; at most 1 MiB can be sent"};
  }
  finish_frame(out, at, kind, flags);
  return {};
}

}  // namespace binnacle::wire::detail
