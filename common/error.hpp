#pragma once

#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle {

/// What went wrong, named by what the caller can do about it.
enum class errc : unsigned char {
  invalid_input,  ///< the text, file or message is wrong: mend it; trying again will not help
  not_found,      ///< the thing named does not exist, or not yet
  permission,     ///< the kernel, a BMC or a peer refused: grant the right named in the message
  unsupported,    ///< this machine, kernel or peer cannot do it: fall back
  io,             ///< the kernel or a device failed: try again with back-off
  timeout,        ///< a deadline passed: try again with back-off
  disconnected,   ///< the peer went away: reconnect and start again
  overloaded,     ///< a bound was reached: back off, do not try again at once
  protocol,       ///< the peer broke the protocol: end the session
  internal,       ///< a broken invariant of ours: log it, keep serving
};

/// The name of `code` as logs, metrics and JSON print it ("invalid_input").
std::string_view to_string(errc code) noexcept;

/// An expected failure as a value. `message` is one sentence for a person: what, where, and the remedy.
/// It never holds a secret: it goes into logs, events and answers.
struct error {
  errc code = errc::internal;
  std::string message;
};
/// "not_found: the message"; also lets tests check and print a result.
std::ostream& operator<<(std::ostream& out, const error& e);

/// An error with the code invalid_input.
inline error invalid(std::string message) { return {errc::invalid_input, std::move(message)}; }

/// Thrown for bad start-up configuration and broken invariants only; caught in `main` and in task groups.
class failure : public std::runtime_error {
 public:
  explicit failure(const error& e) : std::runtime_error(e.message) {}
};

/// Makes result<T>::value() throw `failure` (found by argument-dependent look-up).
[[noreturn]] void throw_exception_from_error(const error& e, const boost::source_location& where);

/// The outcome of everything that may fail in an expected way.
template <class T>
using result = boost::system::result<T, error>;

}  // namespace binnacle
