#pragma once

#include <functional>
#include <thread>

namespace binnacle {

/// A thread that no signal reaches: signals are for the threads that wait for them. Throws std::system_error
/// when there can be no further thread.
std::thread quiet_thread(std::function<void()> work);

}  // namespace binnacle
