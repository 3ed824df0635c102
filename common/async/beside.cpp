#include "common/async/beside.hpp"

#include "common/async/task_group.hpp"
#include "common/system/quiet_thread.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace binnacle::async {

struct beside::impl {
  struct piece {
    std::function<void()> work, then;
  };

  explicit impl(boost::asio::io_context& l) : loop(l) {}

  void go() {
    std::unique_lock lock(guard);
    for (;;) {
      changed.wait(lock, [this] { return ended || !waiting.empty(); });
      if (ended) return;
      piece next = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      next.work();
      lock.lock();
      // Posting is safe while `ended` is false: the destructor, which sets it, waits for this thread, and the
      // loop outlives the destructor.
      if (!ended) post(loop, std::move(next.then));
    }
  }

  boost::asio::io_context& loop;
  std::mutex guard;
  std::condition_variable changed;
  std::deque<piece> waiting;
  bool ended = false;
  std::thread thread;
};

beside::beside(boost::asio::io_context& loop) : impl_(std::make_unique<impl>(loop)) {
  impl_->thread = quiet_thread([it = impl_.get()] { it->go(); });
}

beside::~beside() {
  {
    const std::lock_guard lock(impl_->guard);
    impl_->ended = true;
  }
  impl_->changed.notify_one();
  impl_->thread.join();
}

void beside::run(std::function<void()> work, std::function<void()> then) {
  {
    const std::lock_guard lock(impl_->guard);
    impl_->waiting.push_back({std::move(work), std::move(then)});
  }
  impl_->changed.notify_one();
}

}  // namespace binnacle::async
