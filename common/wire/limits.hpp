#pragma once

#include <cstddef>
#include <cstdint>

/// How much one side may make the other side hold. Both sides check: the writer so that it can report what it
/// leaves out, the reader because it trusts nobody.
namespace binnacle::wire {

inline constexpr std::uint16_t protocol_major = 1;
inline constexpr std::uint16_t protocol_minor = 4;

inline constexpr std::size_t max_frame_payload = std::size_t{1} << 20;  ///< bytes after the header
inline constexpr std::size_t max_first_frame = std::size_t{64} << 10;   ///< for the first frame, a hello
inline constexpr std::size_t max_message_bytes = std::size_t{4} << 20;  ///< a message unpacked
inline constexpr std::size_t max_catalog_text = std::size_t{16}
                                                << 20;  ///< all names, labels and helps of a catalog
inline constexpr std::size_t max_series = 65'535;
inline constexpr std::size_t max_groups = 4'096;
inline constexpr std::size_t max_labels = 32;   ///< per series
inline constexpr std::size_t max_name = 255;    ///< bytes of a metric, label, source or node name
inline constexpr std::size_t max_text = 1'024;  ///< bytes of a label value, help or status message
inline constexpr std::size_t max_credential = 16'384;
inline constexpr std::size_t max_statuses = 256;
inline constexpr std::size_t max_wishes = 1'024;
inline constexpr int max_exponent = 18;  ///< decimal's range is ±18

}  // namespace binnacle::wire
