#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

typedef struct ssl_ctx_st SSL_CTX;

namespace binnacle::async {

/// A client's connections that wait for its next call. `Connection` has a member `security`: the
/// shared_ptr<SSL_CTX> that it was made with, null for a plain one. Pure: time is an argument.
template <class Connection>
class idle_connections {
 public:
  using instant = std::chrono::steady_clock::time_point;

  /// Servers close idle connections after a minute or more (Go: never, or as configured), so we close ours
  /// earlier.
  static constexpr std::chrono::seconds longest{45};

  explicit idle_connections(std::size_t most) : most_(most) {}

  /// The one that was used last, if it was made with `security`: one that was made with another certificate
  /// would go on under that identity. Null if there is none.
  std::unique_ptr<Connection> take(const std::shared_ptr<SSL_CTX>& security, instant now) {
    std::erase_if(all_, [&](const kept& k) { return now - k.since > longest || k.it->security != security; });
    if (all_.empty()) return nullptr;
    auto out = std::move(all_.back().it);
    all_.pop_back();
    return out;
  }
  /// Keeps a connection, or closes it if there are enough.
  void keep(std::unique_ptr<Connection> one, instant now) {
    if (!full()) all_.push_back({std::move(one), now});
  }
  bool full() const noexcept { return all_.size() >= most_; }

 private:
  struct kept {
    std::unique_ptr<Connection> it;
    instant since;
  };
  std::size_t most_;
  std::vector<kept> all_;  // the newest is the last
};

}  // namespace binnacle::async
