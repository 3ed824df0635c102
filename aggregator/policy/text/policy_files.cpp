#include "aggregator/policy/text/policy_files.hpp"

#include "aggregator/policy/text/policy_set.hpp"
#include "common/system/quiet_thread.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <thread>

namespace binnacle::policy {

policies_read policies_read::of(const policy_set& texts) {
  return {texts.policies(), texts.sources(), texts.wrong_ones(), texts.problems(), texts.refused()};
}

struct policy_files::shared {
  shared(const std::string& path, alias_file names, duration p, news t)
      : aliases(std::move(names)), period(p), tell(std::move(t)) {
    if (!path.empty()) files.emplace(path);
  }

  void follow() {
    pthread_setname_np(pthread_self(), "policy-files");
    for (;;) {
      const bool policies_changed = files && (files->refresh(texts) || !was_read);
      was_read = true;
      const bool aliases_changed = aliases.refresh();
      std::unique_lock lock(guard);  // the receiver exists until the destructor has had the lock
      if (stopped) return;
      if (aliases_changed) tell.aliases(aliases);
      if (policies_changed) tell.policies(policies_read::of(texts));
      if (ended.wait_for(lock, period, [this] { return stopped; })) return;
    }
  }

  // After start() only the thread uses these.
  std::optional<folder> files;
  policy_set texts;
  bool was_read = false;  // the folder has been read at least once
  alias_file aliases;
  const duration period;
  const news tell;

  std::mutex guard;
  std::condition_variable ended;
  bool stopped = false;
};

policy_files::policy_files(const std::string& folder, alias_file aliases, duration period, news tell)
    : shared_(std::make_shared<shared>(folder, std::move(aliases), period, std::move(tell))) {}

policy_files::~policy_files() {
  {
    const std::lock_guard lock(shared_->guard);
    shared_->stopped = true;
  }
  shared_->ended.notify_all();
}

void policy_files::recall(const std::vector<kept_policy>& all) { shared_->texts.recall(all); }

policies_read policy_files::read_now() {
  shared_->was_read = true;
  if (shared_->files) shared_->files->refresh(shared_->texts);
  return policies_read::of(shared_->texts);
}

void policy_files::start() {
  quiet_thread([state = shared_] { state->follow(); }).detach();
}

}  // namespace binnacle::policy
