#pragma once

#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/objects/reflector.hpp"
#include "common/async/task.hpp"

#include <functional>
#include <memory>

namespace binnacle::kube {

/// Lets the reflector ask `api` until cancelled: the shell around the machine. `after` is called after each
/// of its steps and each piece of a watch, when what the watcher was told can be acted on. Include from .cpp
/// files only; `machine` and what `after` uses must outlive the coroutine.
async::task<void> follow(std::shared_ptr<client> api, reflector& machine, std::function<void()> after);

/// Lets the reflector read its collection once. False: that failed, and `machine` says why. Include from .cpp
/// files only.
async::task<bool> read_once(std::shared_ptr<client> api, reflector& machine);

}  // namespace binnacle::kube
