#pragma once

#include <string>
#include <string_view>

namespace binnacle::wire {

/// Whether `text` is UTF-8 without overlong forms, surrogates and NUL. Source: RFC 3629, Unicode 15 table
/// 3-7.
bool valid_utf8(std::string_view text) noexcept;

/// A metric name in Prometheus form ([a-zA-Z_:][a-zA-Z0-9_:]*) of at most max_name bytes; label names have no
/// colon.
bool valid_metric_name(std::string_view name) noexcept;
bool valid_label_name(std::string_view name) noexcept;

/// A node name: letters, digits, '-', '.', '_', at most 253 bytes, starting and ending with a letter or
/// digit.
bool valid_node_name(std::string_view name) noexcept;

}  // namespace binnacle::wire
