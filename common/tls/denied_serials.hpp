#pragma once

#include "common/error.hpp"

#include <openssl/types.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace binnacle::tls {

/// Serial numbers of certificates that count no longer, though their authority signed them and their time is
/// not over: of a key that was stolen, of a machine that was given away.
class denied_serials {
 public:
  /// One on each line, in hexadecimal, as `openssl x509 -noout -serial` prints it; "serial=" in front and
  /// colons between the digits may be there. '#' begins a comment. An empty text denies none. `name` is what
  /// messages call the text. Errors: invalid_input, with the line's number.
  static result<denied_serials> read(std::string_view text, std::string_view name);

  bool contains(const X509* certificate) const;
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }

 private:
  std::set<std::string, std::less<>> all_;  // digits in lower case, without leading zeros
};

/// A certificate's serial number, as such lists name it.
std::string serial_of(const X509* certificate);

}  // namespace binnacle::tls
