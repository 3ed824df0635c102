#include "common/system/quiet_thread.hpp"

#include <csignal>
#include <pthread.h>
#include <utility>

namespace binnacle {
namespace {

/// Blocks signals in this thread, and in the threads that it starts meanwhile, as long as this object exists.
class no_signals {
 public:
  no_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~no_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::thread quiet_thread(std::function<void()> work) {
  const no_signals until_it_runs;
  return std::thread(std::move(work));
}

}  // namespace binnacle
