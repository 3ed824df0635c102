#include "common/async/turnstile.hpp"

#include <boost/asio/post.hpp>

namespace binnacle::async {

struct turnstile::state : std::enable_shared_from_this<turnstile::state> {
  explicit state(loop& on) : loop_(on) {}

  // Behind everything that is ready now.
  void open_later() {
    boost::asio::post(loop_, [held = shared_from_this()] {
      held->taken = false;
      if (!held->queue.empty()) held->queue.front()->notify();
    });
  }

  loop& loop_;
  bool taken = false;
  std::list<event*> queue;
};

turnstile::turnstile(loop& on) : state_(std::make_shared<state>(on)) {}
turnstile::~turnstile() = default;

task<void> turnstile::pass() {
  const auto held = state_;
  if (held->taken || !held->queue.empty()) {
    event mine(held->loop_);
    // Leaves the queue also when this coroutine is destroyed; if it was its turn then, the next one's comes.
    struct place {
      state& in;
      std::list<event*>::iterator at;
      ~place() {
        const bool was_first = at == in.queue.begin();
        in.queue.erase(at);
        if (was_first && !in.taken && !in.queue.empty()) in.queue.front()->notify();
      }
    };
    const place waiting{*held, held->queue.insert(held->queue.end(), &mine)};
    // Not notified: cancelled, and the next await throws.
    for (bool my_turn = false; !my_turn;) {
      const bool notified = co_await mine.wait();
      my_turn = notified && !held->taken && held->queue.front() == &mine;
    }
    held->taken = true;  // before `waiting` goes, which would wake the next one
  }
  held->taken = true;
  held->open_later();
}

std::size_t turnstile::waiting() const noexcept { return state_->queue.size(); }

}  // namespace binnacle::async
