#include "common/http/sliced.hpp"

#include <utility>

namespace binnacle::http {
namespace {

class ready_answer final : public slices {
 public:
  explicit ready_answer(response answer) : answer_(std::move(answer)) {}
  bool step() override { return false; }
  response take() override { return std::move(answer_); }

 private:
  response answer_;
};

class counted_slices final : public slices {
 public:
  counted_slices(std::unique_ptr<slices> work, std::shared_ptr<std::multiset<std::string>> running,
                 const std::string& caller)
      : work_(std::move(work)), running_(std::move(running)), place_(running_->insert(caller)) {}
  ~counted_slices() override { running_->erase(place_); }
  counted_slices(const counted_slices&) = delete;
  counted_slices& operator=(const counted_slices&) = delete;
  bool step() override { return work_->step(); }
  response take() override { return work_->take(); }

 private:
  const std::unique_ptr<slices> work_;
  const std::shared_ptr<std::multiset<std::string>> running_;
  const std::multiset<std::string>::iterator place_;
};

class waiting_slices final : public slices {
 public:
  waiting_slices(const slices_running& running, std::string caller,
                 std::function<std::unique_ptr<slices>()> make)
      : running_(running), caller_(std::move(caller)), make_(std::move(make)) {}
  bool step() override {
    if (work_ == nullptr) {
      if (running_.full(caller_)) return true;
      work_ = running_.count(caller_, make_());
    }
    return work_->step();
  }
  response take() override { return work_->take(); }

 private:
  const slices_running running_;  // shares its count
  const std::string caller_;
  const std::function<std::unique_ptr<slices>()> make_;
  std::unique_ptr<slices> work_;
};

/// Owned by the exchange. The call that waits on the loop holds only a weak pointer to it, so the job ends
/// with its connection.
struct sliced_job {
  std::unique_ptr<slices> work;
  run_later later;
  reply answer;
};

/// Makes one slice, and posts itself again unless that was the last.
void go_on(const std::weak_ptr<sliced_job>& waiting) {
  const auto j = waiting.lock();
  if (j == nullptr) return;
  if (!j->work->step()) {
    const reply answer = std::move(j->answer);
    answer(j->work->take());
    return;
  }
  j->later([waiting] { go_on(waiting); });
}

class sliced_exchange final : public exchange {
 public:
  sliced_exchange(std::unique_ptr<slices> work, run_later later)
      : job_(std::make_shared<sliced_job>(sliced_job{std::move(work), std::move(later), nullptr})) {}

  bool consume(std::string_view) override { return true; }
  void finish(reply answer) override {
    job_->answer = std::move(answer);
    go_on(job_);
  }

 private:
  std::shared_ptr<sliced_job> job_;
};

}  // namespace

std::unique_ptr<slices> ready(response answer) { return std::make_unique<ready_answer>(std::move(answer)); }

std::unique_ptr<exchange> run_sliced(std::unique_ptr<slices> work, run_later later) {
  return std::make_unique<sliced_exchange>(std::move(work), std::move(later));
}

bool slices_running::full(const std::string& caller) const {
  return running_->size() >= most_ || running_->count(caller) >= most_ / 2;
}

response slices_running::refusal(failure_form form) {
  response busy = form(503, "too many lists are being made; try again in a second");
  busy.headers.emplace_back("Retry-After", "1");
  return busy;
}

std::unique_ptr<slices> slices_running::count(const std::string& caller, std::unique_ptr<slices> work) const {
  return std::make_unique<counted_slices>(std::move(work), running_, caller);
}

std::unique_ptr<slices> slices_running::wait(const std::string& caller,
                                             std::function<std::unique_ptr<slices>()> make) const {
  return std::make_unique<waiting_slices>(*this, caller, std::move(make));
}

}  // namespace binnacle::http
