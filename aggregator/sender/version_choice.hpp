#pragma once

#include "aggregator/sender/dialect.hpp"
#include "aggregator/sender/protocol.hpp"
#include "common/http/response_parser.hpp"

#include <cstdint>

namespace binnacle::sender {

/// Which version of a protocol a server gets, as its answers teach. The newest comes first. A server that
/// lacks it gets the older one from then on. One that only may lack it gets the same request in the older one
/// once: at once if it refused the request, after some failures in a row if it failed. If it takes that, it
/// gets the older one from then on; but failures pass by themselves, so after those the newest has one more
/// chance, and if it refuses the older one then, the same request goes on in the newest. A server that has
/// shown that it knows the newest is doubted no more, whatever it refuses. So no reading is lost by the
/// choice, and it changes at most once. Pure.
class version_choice {
 public:
  /// `wish` of a protocol with one version has no meaning.
  version_choice(const dialect& newest, write_version wish);

  /// What the next request is sent in.
  const dialect& next() const noexcept { return tries_older_ ? *usual_->older : *usual_; }
  /// What requests are made in.
  const dialect& usual() const noexcept { return *usual_; }
  /// `answer`: of the server to a request in next(). True: it gets the same request at once in what is next()
  /// then, and this answer means nothing else.
  bool learn(const http::answer& answer);

 private:
  bool settle();

  const dialect* usual_;
  bool open_;                 // whether there is still a choice
  bool tries_older_ = false;  // with the next request
  bool was_refused_ = false;  // the request that is tried in the older one: it did not fail, it was refused
  bool older_works_ = false;  // after failures of the newer one
  bool knows_ = false;        // the newest
  unsigned failures_ = 0;     // in a row
};

}  // namespace binnacle::sender
