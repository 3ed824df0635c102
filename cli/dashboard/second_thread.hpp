#pragma once

#include "common/async/beside.hpp"
#include "common/async/task.hpp"
#include "common/async/timers.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace binnacle::cli::dashboard {

/// A thread beside the loop for questions that block. The first question starts it. Include from .cpp files
/// only. Threads: one loop.
class second_thread {
 public:
  /// `on` must outlive this object. Its end waits for the question that is under way.
  explicit second_thread(async::loop& on) : loop_(on) {}

  /// What `question` returns. Nothing if the coroutine was cancelled; the question may be under way still, so
  /// it must own what it touches. It must not throw.
  template <class T>
  async::task<std::optional<T>> ask(std::function<T()> question) {
    if (!thread_) thread_.emplace(loop_);
    auto answer = std::make_shared<std::optional<T>>();
    auto is_answered = std::make_shared<async::event>(loop_);
    const auto work = [answer, question = std::move(question)] { *answer = question(); };
    const auto tell = [is_answered] { is_answered->notify(); };
    thread_->run(work, tell);
    if (!co_await is_answered->wait()) co_return std::nullopt;
    co_return std::move(*answer);
  }

 private:
  async::loop& loop_;
  std::optional<async::beside> thread_;
};

}  // namespace binnacle::cli::dashboard
