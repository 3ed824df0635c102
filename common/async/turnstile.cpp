#include "common/async/turnstile.hpp"

#include <boost/asio/post.hpp>

namespace binnacle::async {

struct turnstile::state : std::enable_shared_from_this<turnstile::state> {
  explicit state(loop& on) : loop_(on) {}

  // Lets the next one through after all work of the loop that is ready now.
  void open_later() {
    boost::asio::post(loop_, [held = shared_from_this()] {
      held->taken = false;
      held->call_next();
    });
  }
  void call_next() {
    if (taken || called != nullptr || waiting.empty()) return;
    called = *waiting.next().at;
    called->notify();
  }

  loop& loop_;
  bool taken = false;
  event* called = nullptr;  // the one whose turn it is; null: nobody's
  crowd<event*> waiting;
};

turnstile::turnstile(loop& on) : state_(std::make_shared<state>(on)) {}
turnstile::~turnstile() = default;

task<void> turnstile::pass(const network& from) {
  const auto held = state_;
  if (held->taken || !held->waiting.empty()) {
    event mine(held->loop_);
    // Leaves the line, also if this coroutine is destroyed. If it had the turn at that moment, the next one
    // is called.
    struct place {
      place(state& s, const network& from, event* who) : in(s), at(s.waiting.enter(from, who)) {}
      ~place() {
        const event* const who = in.waiting.leave(at);
        if (in.called == who) in.called = nullptr;
        in.call_next();
      }
      place(const place&) = delete;
      place& operator=(const place&) = delete;
      state& in;
      crowd<event*>::seat at;
    };
    const place waiting(*held, from, &mine);
    // wait() returns false if this coroutine is cancelled; the next await throws then.
    for (bool my_turn = false; !my_turn;) {
      const bool notified = co_await mine.wait();
      my_turn = notified && held->called == &mine;
    }
    held->taken = true;  // set before `waiting` is destroyed, which would call the next one
  }
  held->taken = true;
  held->open_later();
}

std::size_t turnstile::waiting() const noexcept { return state_->waiting.size(); }

}  // namespace binnacle::async
