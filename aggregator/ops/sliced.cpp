#include "aggregator/ops/sliced.hpp"

#include <utility>

namespace binnacle::ops {
namespace {

struct job {
  std::unique_ptr<slices> work;
  post later;
  http::reply answer;
};

/// Held by the exchange alone; what waits on the loop only knows it weakly, so it ends with the connection.
void go_on(const std::weak_ptr<job>& waiting) {
  const auto j = waiting.lock();
  if (j == nullptr) return;
  if (!j->work->step()) {
    const http::reply answer = std::move(j->answer);
    answer(j->work->take());
    return;
  }
  j->later([waiting] { go_on(waiting); });
}

class sliced_exchange final : public http::exchange {
 public:
  sliced_exchange(std::unique_ptr<slices> work, post later)
      : job_(std::make_shared<job>(job{std::move(work), std::move(later), nullptr})) {}

  bool consume(std::string_view) override { return true; }
  void finish(http::reply answer) override {
    job_->answer = std::move(answer);
    go_on(job_);
  }

 private:
  std::shared_ptr<job> job_;
};

}  // namespace

std::unique_ptr<http::exchange> run_sliced(std::unique_ptr<slices> work, post later) {
  return std::make_unique<sliced_exchange>(std::move(work), std::move(later));
}

}  // namespace binnacle::ops
