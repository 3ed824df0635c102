#pragma once

#include "common/http/exchange.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace binnacle::http {

/// A request whose answer goes on for as long as the peer stays: server-sent events. finish() answers with
/// the head, and the server pulls the body from next(). It pulls a piece only after the peer has taken the
/// one before, so a slow peer is behind by one piece and what the kernel holds, never by a queue. A peer that
/// takes less than 64 KiB, or the piece's rest, within write_deadline is cut. Any status but 200 is an
/// ordinary answer.
class live_exchange : public exchange {
 public:
  bool consume(std::string_view) override { return true; }
  /// Called once, before next(): `wake` makes the server ask next() again. It may be called on the loop until
  /// this exchange is destroyed.
  virtual void wake_with(std::function<void()> wake) = 0;
  /// What is new since the last call; empty: nothing. The server also asks every `live_pause` without a wake,
  /// so that next() can say something which shows that both are still there.
  virtual std::string next() = 0;
};

}  // namespace binnacle::http
