#pragma once

#include <functional>
#include <thread>

namespace binnacle {

/// A thread that receives no signals: they go to the threads that wait for them. Throws std::system_error if
/// no further thread can be started.
std::thread quiet_thread(std::function<void()> work);

}  // namespace binnacle
