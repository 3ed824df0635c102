#include "agent/kernel/slow_reader.hpp"

#include "common/system/quiet_thread.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace binnacle::agent {
namespace {

constexpr duration farewell = std::chrono::milliseconds(200);

}  // namespace

// What the reader and its threads share. It may outlive the reader, because a stuck thread still holds it.
struct slow_reader::shared {
  struct worker {
    bool busy = false;
    std::optional<instant> seen_busy;  // when tend() first saw it busy with this job
  };

  std::mutex guard;
  std::condition_variable wake;      // a job or the end
  std::condition_variable finished;  // a job is done or a thread has ended
  std::deque<std::function<void()>> jobs;
  std::vector<worker> workers;
  unsigned alive = 0;
  bool closing = false;

  void work(std::size_t self) {
    std::unique_lock lock(guard);
    for (;;) {
      wake.wait(lock, [this] { return closing || !jobs.empty(); });
      if (closing) break;
      auto job = std::move(jobs.front());
      jobs.pop_front();
      workers[self] = {true, std::nullopt};
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
      workers[self] = {};
      finished.notify_all();
    }
    --alive;
    finished.notify_all();
  }
  bool all_done() const {
    return jobs.empty() && std::ranges::none_of(workers, [](const worker& w) { return w.busy; });
  }
};

slow_reader::slow_reader(options o) : options_(o), shared_(std::make_shared<shared>()) {}

slow_reader::~slow_reader() {
  std::unique_lock lock(shared_->guard);
  shared_->closing = true;
  shared_->jobs.clear();
  shared_->wake.notify_all();
  shared_->finished.wait_for(lock, farewell, [this] { return shared_->alive == 0; });
}

void slow_reader::run(std::function<void()> job) {
  const std::lock_guard lock(shared_->guard);
  shared_->jobs.push_back(std::move(job));
  if (shared_->workers.empty()) start_thread();
  shared_->wake.notify_one();
}

void slow_reader::tend(instant now) {
  const std::lock_guard lock(shared_->guard);
  bool all_stuck = true;
  for (auto& w : shared_->workers) {
    if (w.busy && !w.seen_busy) w.seen_busy = now;
    all_stuck = all_stuck && w.busy && now - *w.seen_busy > options_.patience;
  }
  if (!shared_->jobs.empty() && all_stuck && shared_->workers.size() < options_.most_threads) start_thread();
}

bool slow_reader::wait(duration at_most) {
  std::unique_lock lock(shared_->guard);
  return shared_->finished.wait_for(lock, at_most, [this] { return shared_->all_done(); });
}

unsigned slow_reader::threads() const {
  const std::lock_guard lock(shared_->guard);
  return static_cast<unsigned>(shared_->workers.size());
}

// To be called with the lock held.
void slow_reader::start_thread() {
  const auto self = shared_->workers.size();
  shared_->workers.emplace_back();
  ++shared_->alive;
  quiet_thread([state = shared_, self] { state->work(self); }).detach();
}

}  // namespace binnacle::agent
