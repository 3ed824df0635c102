#pragma once

#include "common/http/exchange.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace binnacle::http {

/// A request whose answer goes on as long as the peer stays: server-sent events. finish() answers with the
/// head, and the server takes the body from next(). It asks for a piece only after the peer has taken the one
/// before. So a slow peer lags by one piece and what the kernel holds; no queue builds up. The server cuts a
/// peer that takes less than 64 KiB (or less than the rest of the piece) within write_deadline. An answer
/// with a status other than 200 is an ordinary answer.
class live_exchange : public exchange {
 public:
  bool consume(std::string_view) override { return true; }
  /// Called once, before next(): `wake` makes the server ask next() again. It may be called on the loop until
  /// this exchange is destroyed.
  virtual void wake_with(std::function<void()> wake) = 0;
  /// What is new since the last call; empty: nothing. The server also asks every `live_pause` without a wake,
  /// so that next() can send something which shows that the connection still works.
  virtual std::string next() = 0;
};

}  // namespace binnacle::http
