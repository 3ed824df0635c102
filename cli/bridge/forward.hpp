#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace binnacle::cli::bridge {

/// Runs `words` (kubectl port-forward …), which end with this process, whatever ends it. `opened` is called
/// with the local port when the forward is there; it has ended when this returns, with the last that it said,
/// a line or two. Errors: io. Include from .cpp files only. Threads: the loop's thread must live as long as
/// the forward is to (prctl(2), PR_SET_PDEATHSIG).
async::task<result<std::string>> forward(std::vector<std::string> words,
                                         std::function<void(std::uint16_t)> opened);

}  // namespace binnacle::cli::bridge
