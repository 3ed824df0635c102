#pragma once

#include "common/wire/codec/scratch.hpp"
#include "common/wire/frame.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/omissions.hpp"

/// Turns messages into frames and back. Batches need the memory of earlier ones; they are in batch_codec.hpp.
/// Nothing here throws except std::bad_alloc; an exception of Cap'n Proto becomes reason::bad_message.
namespace binnacle::wire {

/// Appends `m` as one frame to `out`. If it is refused, `out` stays as before. Errors: oversized;
/// catalogue_too_large and bad_catalogue, as decode() would give them, so that a node learns from its own log
/// what the other side would refuse. Texts that only people read (help, statuses, reasons) are cut to their
/// limits instead, and wishes that are not metric names are left out.
outcome<void> append(bytes& out, const hello& m);
outcome<void> append(bytes& out, const welcome& m);
outcome<void> append(bytes& out, const refused& m);
outcome<void> append(bytes& out, const catalog& m);
outcome<void> append(bytes& out, const std::vector<source_status>& m);
outcome<void> append(bytes& out, const interest& m);
outcome<void> append(bytes& out, const goodbye& m);
outcome<void> append(bytes& out, const clock_reading& m);

/// Decodes the message in `frame` and checks every bound of limits.hpp. An item that breaks a bound (a wish,
/// a source's status, a series of a catalog, whose index then has no family) is left out and counted in
/// `left_out`. Only for the kinds in frame_kind, without batches. Errors: oversized, bad_message, bad_hello,
/// catalogue_too_large; unexpected_message for other kinds.
outcome<message> decode(const frame_view& frame, scratch& space, omissions& left_out);

/// Checks a catalog: it is within the limits, its indices, names and exponents are valid, and its texts are
/// UTF-8.
outcome<void> check(const catalog& c);

}  // namespace binnacle::wire
