#include "aggregator/replicas/state_route.hpp"

#include "common/http/exchange.hpp"
#include "common/system/quiet_thread.hpp"

#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace binnacle::replicas {
namespace {

/// The snapshot as the body of an answer.
std::vector<std::string> pieces_of(aggregator::snapshot s) {
  std::vector<std::string> out;
  aggregator::encode(std::move(s), [&out](std::span<const std::byte> piece) {
    out.emplace_back(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return out;
}

/// It will have a state in a moment. The caller asks again.
http::response refuse_for_now(std::string_view sentence) {
  http::response out = http::response::failure(503, sentence);
  out.headers.emplace_back("Retry-After", "1");
  return out;
}

/// A request that is answered later, through `begin`.
class deferred final : public http::exchange {
 public:
  explicit deferred(std::function<void(http::reply)> begin) : begin_(std::move(begin)) {}
  bool consume(std::string_view) override { return true; }
  void finish(http::reply answer) override { begin_(std::move(answer)); }

 private:
  std::function<void(http::reply)> begin_;
};

}  // namespace

struct state_route::impl : std::enable_shared_from_this<state_route::impl> {
  explicit impl(state_sources s) : sources(std::move(s)) {}

  void answer(bool is_replica, http::reply to);
  void taken(result<aggregator::snapshot> s, std::shared_ptr<const void> held, worth is,
             const http::reply& to);
  void encode(aggregator::snapshot s, std::shared_ptr<const void> held, worth is, http::reply to);
  void send(std::vector<std::string> body, worth is, const http::reply& to);

  const state_sources sources;
  route_counters numbers;
  bool making = false;
  std::thread encoder;
};

void state_route::impl::answer(bool is_replica, http::reply to) {
  if (!is_replica) {
    ++numbers.strangers;
    return to(http::response::failure(
        403, "only a replica may read this: it shows the certificate that all replicas share"));
  }
  const worth is = sources.worth_now();
  if (is == worth::nothing) {
    ++numbers.too_early;
    // No Retry-After: replicas that start together do not wait for one another.
    return to(http::response::failure(503, "this replica has just begun itself, and has no state to give"));
  }
  if (std::exchange(making, true)) {
    ++numbers.busy;
    return to(refuse_for_now("another replica is being given the state: try again in a second"));
  }
  sources.take([self = shared_from_this(), is, to = std::move(to)](result<aggregator::snapshot> s,
                                                                   std::shared_ptr<const void> held) {
    auto kept = std::make_shared<result<aggregator::snapshot>>(std::move(s));
    self->sources.post([self, kept, held = std::move(held), is, to]() mutable {
      self->taken(std::move(*kept), std::move(held), is, to);
    });
  });
}

void state_route::impl::taken(result<aggregator::snapshot> s, std::shared_ptr<const void> held, worth is,
                              const http::reply& to) {
  if (s.has_value()) return encode(std::move(*s), std::move(held), is, to);
  making = false;
  ++numbers.too_early;
  const bool soon = s.error().code == errc::overloaded;
  to(soon ? refuse_for_now(s.error().message) : http::response::failure(503, s.error().message));
}

// Encodes on a thread, because a large fleet's snapshot would keep the loop from its callers for too long.
void state_route::impl::encode(aggregator::snapshot s, std::shared_ptr<const void> held, worth is,
                               http::reply to) {
  if (encoder.joinable()) encoder.join();  // it has posted its result already
  auto work = [this, s = std::move(s), held = std::move(held), is, to = std::move(to)]() mutable {
    auto body = std::make_shared<std::vector<std::string>>(pieces_of(std::move(s)));
    held.reset();
    sources.post([self = weak_from_this(), body, is, to] {
      if (const auto here = self.lock()) here->send(std::move(*body), is, to);
    });
  };
  try {
    encoder = quiet_thread(std::move(work));
  } catch (const std::system_error&) {
    making = false;  // the caller is told that there was no answer
  }
}

void state_route::impl::send(std::vector<std::string> body, worth is, const http::reply& to) {
  making = false;
  ++numbers.given;
  http::response out;
  out.content_type = "application/octet-stream";
  if (is == worth::young) out.headers.emplace_back(young_header, "true");
  out.body = std::move(body);
  to(std::move(out));
}

state_route::state_route(state_sources sources) : impl_(std::make_shared<impl>(std::move(sources))) {}

state_route::~state_route() {
  if (impl_->encoder.joinable()) impl_->encoder.join();
}

void state_route::mount(http::router& routes) {
  const auto make = [self = impl_.get()](const http::request& r) {
    return std::make_unique<deferred>([self, is_replica = self->sources.is_replica(r)](http::reply to) {
      self->answer(is_replica, std::move(to));
    });
  };
  routes.add_streaming("GET", std::string(state_path), make, 0);
}

bool state_route::is_for(const http::request& r) { return r.decoded_path() == state_path; }

const route_counters& state_route::counted() const noexcept { return impl_->numbers; }

}  // namespace binnacle::replicas
