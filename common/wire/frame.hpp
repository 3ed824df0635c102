#pragma once

#include "common/wire/limits.hpp"
#include "common/wire/reason.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// The eight bytes before every message, and how a stream of bytes is cut into frames. README.md shows the
/// layout.
namespace binnacle::wire {

using bytes = std::vector<std::byte>;

/// The kind of message in a frame. A reader skips kinds that are not listed.
enum class frame_kind : std::uint8_t {
  hello = 1,
  welcome = 2,
  refused = 3,
  catalog = 4,
  batch = 5,
  status = 6,
  interest = 7,
  goodbye = 8,
  clock = 9,  ///< since 1.1
};

inline constexpr std::size_t frame_header_size = 8;
inline constexpr std::uint8_t flag_packed = 1;  ///< Cap'n Proto's packed encoding
inline constexpr std::uint8_t flag_zstd =
    2;  ///< one zstd frame that states its content size, around what `packed` says
inline constexpr std::uint8_t known_flags = flag_packed | flag_zstd;

/// A frame inside the reader's buffer: valid until the reader is given more bytes.
struct frame_view {
  frame_kind kind{};
  std::uint8_t version = 0;  ///< the sender's major version; the session compares it
  std::uint8_t flags = 0;
  std::span<const std::byte> payload;
};

/// Bytes in as they arrive, frames out. Memory is reserved for a frame only after its header was checked, and
/// never more than twice the bytes that have arrived (at least 2 KiB). After a fault the reader gives no more
/// frames.
class frame_reader {
 public:
  explicit frame_reader(std::size_t max_payload = max_frame_payload) : max_payload_(max_payload) {}

  /// Room for the next read from the socket, at least `wish` bytes. Makes earlier frame_views invalid.
  std::span<std::byte> prepare(std::size_t wish = 2048);
  /// Call it after `n` bytes of the room from prepare() have been filled.
  void commit(std::size_t n) noexcept { end_ += n; }
  /// Copies `data` in: prepare and commit in one.
  void feed(std::span<const std::byte> data);

  /// The next whole frame; nothing if more bytes are needed. Errors: oversized, bad_frame. After an error
  /// every call gives the same one.
  outcome<std::optional<frame_view>> next();

  /// From now on a frame may have up to `n` bytes of payload.
  void limit(std::size_t n) noexcept { max_payload_ = n; }
  std::size_t buffered() const noexcept { return end_ - begin_; }
  std::size_t capacity() const noexcept { return buffer_.size(); }

 private:
  bytes buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what arrived and was not given out yet
  std::size_t max_payload_;
  std::optional<fault> broken_;
};

/// Writes the header of a frame into the eight bytes that were left free at `at`; the payload is already
/// behind them.
void finish_frame(bytes& out, std::size_t at, frame_kind kind, std::uint8_t flags) noexcept;

}  // namespace binnacle::wire
