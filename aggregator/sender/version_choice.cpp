#include "aggregator/sender/version_choice.hpp"

namespace binnacle::sender {
namespace {

// A server that is starting fails once or twice. Three failures with the pauses between them take some
// seconds.
constexpr unsigned failures_before_trial = 3;

}  // namespace

version_choice::version_choice(const dialect& newest, write_version wish)
    : usual_(wish == write_version::v1_0 && newest.older != nullptr ? newest.older : &newest),
      open_(wish == write_version::automatic && newest.older != nullptr) {}

bool version_choice::settle() {
  usual_ = usual_->older;
  open_ = false;
  return true;
}

bool version_choice::learn(const http::answer& answer) {
  if (!open_) return false;
  if (tries_older_) {
    tries_older_ = false;
    const bool taken = answer.status / 100 == 2;
    if (was_refused_) {
      if (taken) settle();
      return false;
    }
    older_works_ = taken;
    // If the server refuses the older version, it may take the newest when it no longer fails. So nothing is
    // decided.
    return answer.status / 100 == 4 && answer.status != 429;
  }
  switch (usual_->sign_in(answer)) {
    case version_sign::none: return false;
    case version_sign::knows:
      knows_ = true;
      older_works_ = false;
      failures_ = 0;
      return false;
    case version_sign::lacks: return settle();
    case version_sign::refuses: tries_older_ = was_refused_ = !knows_; return tries_older_;
    case version_sign::fails:
      if (knows_) return false;
      if (older_works_) return settle();
      if (++failures_ < failures_before_trial) return false;
      failures_ = 0;
      tries_older_ = true;
      was_refused_ = false;
      return false;  // it is sent again after a pause, like every failed request
  }
  return false;
}

}  // namespace binnacle::sender
