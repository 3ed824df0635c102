#pragma once

#include "cli/doctor/finding.hpp"
#include "common/clock.hpp"
#include "common/http/response_parser.hpp"

#include <string>
#include <string_view>

namespace binnacle::cli::doctor {

/// ExtenderArgs with a pod without a policy and a node that does not exist, by name or as a whole object.
std::string filter_question(bool by_names);

/// Judges the extender's answer to filter_question(): the node must be in it. `took` is shown in the
/// sentence. Pure.
finding finding_of_filter_answer(const std::string& url, const http::answer& got, std::string_view as_whom,
                                 duration took);

}  // namespace binnacle::cli::doctor
