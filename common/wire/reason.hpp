#pragma once

#include "common/error.hpp"

#include <boost/system/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::wire {

/// Why a session ends or a message is refused. The names must not change: they are label values of counters
/// and the first word of the text in `refused` and `goodbye`.
enum class reason : std::uint8_t {
  none,
  // Faults in the bytes.
  bad_frame,      ///< a header with unknown flags or reserved bits: the stream is not ours or out of step
  oversized,      ///< a frame, or what it unpacks to, is larger than allowed
  bad_message,    ///< the payload is no Cap'n Proto message, or a column does not fit the others
  wrong_version,  ///< another major version
  // Faults in the order of messages.
  not_hello,           ///< something other than a hello came first
  unexpected_message,  ///< a message that this side sends, or one that has no place in this state
  // Who the peer is.
  bad_hello,         ///< a hello without a usable node name or boot id
  wrong_node,        ///< certificate or credential speak for another node
  wrong_cluster,     ///< this aggregator serves another cluster
  not_authorised,    ///< no credential that is accepted
  reauthentication,  ///< the credential was not renewed in time
  unverified,        ///< the credential could not be checked now: come back later
  superseded,        ///< a newer session of the same node took over
  contested,         ///< two agents claim the node, and the one that is there stays
  // Faults in the catalog and its batches.
  catalogue_too_large,  ///< more series, groups, labels or text than allowed
  bad_catalogue,        ///< an index out of range, an invalid name, or text that is not UTF-8
  unknown_catalogue,    ///< a batch for a catalog that is not the last one sent
  unknown_series,       ///< a series or group beyond the catalog
  not_full,             ///< the first batch after a catalog must be full
  sequence_gap,         ///< a batch is missing
  clock_backwards,      ///< sentAt went back, or a read is later than the batch that carries it
  // Time and load.
  hello_timeout,      ///< no hello in time
  authorise_timeout,  ///< no answer to the hello in time
  idle,               ///< nothing came for too long
  overloaded,         ///< a bound of this side is reached: come back later
  shutting_down,
  closed_by_peer,  ///< the peer sent goodbye or refused, or the connection ended
};
inline constexpr std::size_t reason_count = static_cast<std::size_t>(reason::closed_by_peer) + 1;

/// "bad_frame", "wrong_node"…
std::string_view to_string(reason r) noexcept;

/// The reason with which `text` begins (up to the first ':'); closed_by_peer for a name that this version
/// does not know.
reason reason_of(std::string_view text) noexcept;

/// An expected failure in this room. `why` is for counters, `message` is one sentence for people. Never holds
/// a secret.
struct fault {
  reason why = reason::none;
  std::string message;

  /// The form that `refused` and `goodbye` carry: "sequence_gap: batch 7 came after 5".
  std::string text() const;
};

/// errc::protocol, or disconnected, timeout or overloaded if the reason says so. The message is text().
error to_error(const fault& f);

[[noreturn]] void throw_exception_from_error(const fault& f, const boost::source_location& where);

template <class T>
using outcome = boost::system::result<T, fault>;

}  // namespace binnacle::wire
