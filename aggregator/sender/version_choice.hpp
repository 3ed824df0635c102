#pragma once

#include "aggregator/sender/dialect.hpp"
#include "aggregator/sender/protocol.hpp"
#include "common/http/response_parser.hpp"

#include <cstdint>

namespace binnacle::sender {

/// Chooses the version of a protocol for a server, from the server's answers. It begins with the newest
/// version. If an answer shows that the server lacks it, the older version is used from then on. If the
/// server only may lack it, the same request is sent once in the older version: at once after a refusal, or
/// after some failures in a row. If the server takes it after a refusal, the older version is used from then
/// on. Failures may pass by themselves, so after failures the newest version gets one more chance first; and
/// if the server refuses the older version then, the request goes on in the newest. Once a server has shown
/// that it knows the newest version, that stays, whatever it refuses. So the choice loses no reading, and
/// changes at most once. Pure.
class version_choice {
 public:
  /// `wish` means nothing for a protocol that has only one version.
  version_choice(const dialect& newest, write_version wish);

  /// The version in which the next request is sent.
  const dialect& next() const noexcept { return tries_older_ ? *usual_->older : *usual_; }
  /// The version in which new requests are made.
  const dialect& usual() const noexcept { return *usual_; }
  /// Takes the server's answer to a request in the version next(). True: send the same request again at once,
  /// in the version that next() gives then, and ignore this answer otherwise.
  bool learn(const http::answer& answer);

 private:
  bool settle();

  const dialect* usual_;
  bool open_;                 // whether there is still a choice
  bool tries_older_ = false;  // with the next request
  bool was_refused_ = false;  // the older version is tried after a refusal, not after failures
  bool older_works_ = false;  // the server took the older version after failures of the newer one
  bool knows_ = false;        // the newest
  unsigned failures_ = 0;     // in a row
};

}  // namespace binnacle::sender
