#pragma once

#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/objects/reflector.hpp"
#include "common/async/task.hpp"

#include <functional>
#include <memory>

namespace binnacle::kube {

/// Makes the reflector's calls to `api` until cancelled. `after` is called after each step and each piece of
/// a watch, when the caller can act on what the watcher was told. Include from .cpp files only; `machine` and
/// what `after` uses must outlive the coroutine.
async::task<void> follow(std::shared_ptr<client> api, reflector& machine, std::function<void()> after);

/// Makes the reflector read its collection once. False: that failed, and `machine.trouble()` says why.
/// Include from .cpp files only.
async::task<bool> read_once(std::shared_ptr<client> api, reflector& machine);

}  // namespace binnacle::kube
