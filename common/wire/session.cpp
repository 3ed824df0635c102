#include "common/wire/session.hpp"

namespace binnacle::wire {
namespace {

/// Kinds of messages that may be left out, because the next one of the same kind replaces it.
bool is_dispensable(frame_kind kind) noexcept {
  return kind == frame_kind::status || kind == frame_kind::interest || kind == frame_kind::clock;
}

}  // namespace

outcome<std::optional<message>> session::read(const frame_view& frame) {
  auto decoded = decode(frame, scratch_, left_out_);
  if (decoded.has_value()) return std::optional<message>(std::move(*decoded));
  if (!is_dispensable(frame.kind)) return decoded.error();
  left_out_.add(decoded.error());
  return std::optional<message>();
}

outcome<std::optional<frame_view>> session::next_frame() {
  for (;;) {
    auto frame = reader_.next();
    if (frame.has_error() || !frame->has_value()) return frame;
    ++counters_.frames_in;
    const frame_view& f = **frame;
    // The layout of `refused` and hello is the same in all major versions, so that a refusal can be read. A
    // hello states its version itself.
    if (f.version != protocol_major && f.kind != frame_kind::refused)
      return fault{reason::wrong_version, "the peer speaks version " + std::to_string(f.version) +
                                              " of the protocol, we speak " + std::to_string(protocol_major)};
    if (f.kind <= frame_kind::clock) return frame;
    ++counters_.unknown_kinds;
  }
}

}  // namespace binnacle::wire
