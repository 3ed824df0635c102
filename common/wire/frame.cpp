#include "common/wire/frame.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cstring>

namespace binnacle::wire {
namespace {

// A buffer that grew for one large frame (a catalog) shrinks to this size when it is empty, because
// thousands of sessions are idle.
constexpr std::size_t resting_capacity = std::size_t{16} << 10;

}  // namespace

std::span<std::byte> frame_reader::prepare(std::size_t wish) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (buffer_.size() > resting_capacity) bytes().swap(buffer_);
  }
  if (buffer_.size() - end_ < wish && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < wish) buffer_.resize(std::max(end_ + wish, 2 * end_));
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void frame_reader::feed(std::span<const std::byte> data) {
  if (data.empty()) return;
  const auto room = prepare(data.size());
  std::memcpy(room.data(), data.data(), data.size());
  commit(data.size());
}

outcome<std::optional<frame_view>> frame_reader::next() {
  if (broken_) return *broken_;
  if (buffered() < frame_header_size) return std::nullopt;
  const auto* head = reinterpret_cast<const unsigned char*>(buffer_.data() + begin_);
  const std::size_t length = boost::endian::load_little_u32(head);
  if (length > max_payload_) {
    broken_ = fault{reason::oversized, "a frame of " + std::to_string(length) + " bytes; at most " +
                                           std::to_string(max_payload_) + " are allowed here"};
    return *broken_;
  }
  if (head[4] == 0 || (head[6] & ~known_flags) != 0 || head[7] != 0) {
    broken_ = fault{reason::bad_frame, "a frame header with kind " + std::to_string(head[4]) + ", flags " +
                                           std::to_string(head[6]) + " and reserved byte " +
                                           std::to_string(head[7]) + ": the peer does not speak binnacle/1"};
    return *broken_;
  }
  if (buffered() < frame_header_size + length) return std::nullopt;
  frame_view frame{static_cast<frame_kind>(head[4]),
                   head[5],
                   head[6],
                   {buffer_.data() + begin_ + frame_header_size, length}};
  begin_ += frame_header_size + length;
  return frame;
}

void finish_frame(bytes& out, std::size_t at, frame_kind kind, std::uint8_t flags) noexcept {
  auto* head = reinterpret_cast<unsigned char*>(out.data() + at);
  boost::endian::store_little_u32(head, static_cast<std::uint32_t>(out.size() - at - frame_header_size));
  head[4] = static_cast<unsigned char>(kind);
  head[5] = static_cast<unsigned char>(protocol_major);
  head[6] = flags;
  head[7] = 0;
}

}  // namespace binnacle::wire
