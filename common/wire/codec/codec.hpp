#pragma once

#include "common/wire/codec/scratch.hpp"
#include "common/wire/frame.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/omissions.hpp"

/// Messages to frames and back; batches, which need memory of the previous one, are in batch_codec.hpp.
/// Nothing here throws but std::bad_alloc; what Cap'n Proto throws comes back as reason::bad_message.
namespace binnacle::wire {

/// Appends `m` as one frame to `out`. When refused, `out` is as before.
/// Errors: oversized; catalogue_too_large and bad_catalogue as decode() would give them, so that a node
/// learns at home what the other side would refuse. Texts that only people read (help, statuses, reasons) are
/// cut to their limits instead, and wishes for what is no metric name are left out.
outcome<void> append(bytes& out, const hello& m);
outcome<void> append(bytes& out, const welcome& m);
outcome<void> append(bytes& out, const refused& m);
outcome<void> append(bytes& out, const catalog& m);
outcome<void> append(bytes& out, const std::vector<source_status>& m);
outcome<void> append(bytes& out, const interest& m);
outcome<void> append(bytes& out, const goodbye& m);
outcome<void> append(bytes& out, const clock_reading& m);

/// The message in `frame`, every bound of limits.hpp checked. An item that breaks one (a wish, a source's
/// status, a series of a catalogue, whose index then has no family) is left out and counted in `left_out`.
/// Only for kinds listed in frame_kind and not for batches. Errors: oversized, bad_message, bad_hello,
/// catalogue_too_large; unexpected_message for other kinds.
outcome<message> decode(const frame_view& frame, scratch& space, omissions& left_out);

/// Whether the catalogue keeps the limits, its indices, names and exponents are right and its texts are
/// UTF-8.
outcome<void> check(const catalog& c);

}  // namespace binnacle::wire
