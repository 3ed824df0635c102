#pragma once

#include "cli/doctor/finding.hpp"
#include "common/clock.hpp"
#include "common/http/response_parser.hpp"

#include <string>
#include <string_view>

namespace binnacle::cli::doctor {

/// ExtenderArgs about a pod without a policy and one node that is none, by name or as a whole object.
std::string filter_question(bool by_names);

/// What an extender's answer to that means: the node must be in it. `took` is for the sentence. Pure.
finding finding_of_filter_answer(const std::string& url, const http::answer& got, std::string_view as_whom,
                                 duration took);

}  // namespace binnacle::cli::doctor
