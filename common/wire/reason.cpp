#include "common/wire/reason.hpp"

#include <array>

namespace binnacle::wire {
namespace {

constexpr std::array<std::string_view, reason_count> reason_names = {
    "none",          "bad_frame",         "oversized",          "bad_message",
    "wrong_version", "not_hello",         "unexpected_message", "bad_hello",
    "wrong_node",    "wrong_cluster",     "not_authorised",     "reauthentication",
    "unverified",    "superseded",        "contested",          "catalogue_too_large",
    "bad_catalogue", "unknown_catalogue", "unknown_series",     "not_full",
    "sequence_gap",  "clock_backwards",   "hello_timeout",      "authorise_timeout",
    "idle",          "overloaded",        "shutting_down",      "closed_by_peer",
};

errc code_of(reason r) noexcept {
  switch (r) {
    case reason::hello_timeout:
    case reason::authorise_timeout:
    case reason::unverified:
    case reason::idle: return errc::timeout;
    case reason::overloaded: return errc::overloaded;
    case reason::superseded:
    case reason::shutting_down:
    case reason::closed_by_peer: return errc::disconnected;
    case reason::wrong_node:
    case reason::wrong_cluster:
    case reason::not_authorised:
    case reason::contested:
    case reason::reauthentication: return errc::permission;
    default: return errc::protocol;
  }
}

}  // namespace

std::string_view to_string(reason r) noexcept {
  const auto i = static_cast<std::size_t>(r);
  return i < reason_names.size() ? reason_names[i] : "unknown";
}

reason reason_of(std::string_view text) noexcept {
  const std::string_view name = text.substr(0, text.find(':'));
  for (std::size_t i = 1; i < reason_names.size(); ++i)
    if (reason_names[i] == name) return static_cast<reason>(i);
  return reason::closed_by_peer;
}

std::string fault::text() const {
  std::string out(to_string(why));
  if (!message.empty()) out.append(": ").append(message);
  return out;
}

error to_error(const fault& f) { return {code_of(f.why), f.text()}; }

void throw_exception_from_error(const fault& f, const boost::source_location&) { throw failure(to_error(f)); }

}  // namespace binnacle::wire
