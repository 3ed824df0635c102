#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace binnacle::cli::bridge {

/// Runs `words` (kubectl port-forward …). The child ends with this process, however this process ends. Calls
/// `opened` with the local port when the forward is open. Returns after the child has ended, with the last
/// line or two of its output. Errors: io. Include from .cpp files only. Threads: the loop's thread must live
/// as long as the forward should (prctl(2), PR_SET_PDEATHSIG).
async::task<result<std::string>> forward(std::vector<std::string> words,
                                         std::function<void(std::uint16_t)> opened);

}  // namespace binnacle::cli::bridge
