#pragma once

#include "common/clock.hpp"
#include "common/wire/codec/codec.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

/// The common part of both session machines. A machine is pure. The shell gives it bytes and the time, calls
/// next() until it says `nothing`, and sends what output holds. It comes back with more bytes or at
/// next_deadline(), whichever is first.
namespace binnacle::wire {

/// Sums since the session began, for metrics.
struct session_counters {
  std::uint64_t bytes_in = 0;
  std::uint64_t frames_in = 0;
  std::uint64_t unknown_kinds = 0;  ///< frames of a newer minor version, skipped
  std::uint64_t frames_out = 0;
};

/// Overwrites a credential before its memory is freed for other uses.
inline void forget(std::string& secret) {
  std::fill(secret.begin(), secret.end(), '\0');
  secret.clear();
}

class session {
 public:
  /// Room to read into. Afterwards call received(n) with the number of bytes read.
  std::span<std::byte> prepare(std::size_t wish = 2048) { return reader_.prepare(wish); }
  void received(std::size_t n) noexcept {
    reader_.commit(n);
    counters_.bytes_in += n;
  }
  /// prepare() and received() in one call, with a copy.
  void feed(std::span<const std::byte> data) {
    reader_.feed(data);
    counters_.bytes_in += data.size();
  }

  /// Whole frames that wait to be sent. take_output() swaps them into `into`, and the memory of `into` is
  /// reused for the next ones.
  std::size_t output_size() const noexcept { return out_.size(); }
  void take_output(bytes& into) {
    into.clear();
    std::swap(into, out_);
  }

  /// Why the session has ended; nothing while it runs. After the end the shell sends the rest of the output
  /// and closes the connection.
  const std::optional<fault>& ended() const noexcept { return ended_; }
  const session_counters& counters() const noexcept { return counters_; }
  /// The bytes that the peer's messages unpacked to so far, but for catalogs, which are unpacked elsewhere.
  std::uint64_t unpacked() const noexcept { return scratch_.unpacked; }
  /// The items that were left out of the peer's messages in this session.
  const omissions& left_out() const noexcept { return left_out_; }
  /// How many items were left out since the last call.
  std::uint64_t take_left_out() { return left_out_.take_new(); }

 protected:
  explicit session(std::size_t first_frame_limit) : reader_(first_frame_limit) {}
  ~session() = default;

  /// The next frame of a kind that this version knows; other frames are skipped and counted. Errors: those of
  /// frame_reader::next(), wrong_version.
  outcome<std::optional<frame_view>> next_frame();

  /// Decodes the message in `frame`. If it cannot be read and the session can do without it, it is left out
  /// and counted, and the result is nothing. Errors: those of decode().
  outcome<std::optional<message>> read(const frame_view& frame);

  template <class Message>
  outcome<void> put(const Message& m) {
    auto done = append(out_, m);
    if (done.has_value()) ++counters_.frames_out;
    return done;
  }

  frame_reader reader_;
  scratch scratch_;
  bytes out_;
  std::optional<fault> ended_;
  session_counters counters_;
  omissions left_out_;
};

}  // namespace binnacle::wire
