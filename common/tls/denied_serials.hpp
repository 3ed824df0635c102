#pragma once

#include "common/error.hpp"

#include <openssl/types.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace binnacle::tls {

/// Serial numbers of certificates that are no longer accepted although their authority signed them and they
/// have not ended: the key was stolen, or the machine was given away.
class denied_serials {
 public:
  /// Reads one number per line, in hexadecimal, as `openssl x509 -noout -serial` prints it. "serial=" in
  /// front and colons between the digits are allowed. '#' begins a comment. An empty text denies none.
  /// Messages call the text `name`. Errors: invalid_input, with the number of the line.
  static result<denied_serials> read(std::string_view text, std::string_view name);

  bool contains(const X509* certificate) const;
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }

 private:
  std::set<std::string, std::less<>> all_;  // digits in lower case, without leading zeros
};

/// A certificate's serial number in the form of these lists.
std::string serial_of(const X509* certificate);

}  // namespace binnacle::tls
