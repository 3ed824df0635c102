#pragma once

#include "aggregator/extender/decider.hpp"
#include "common/http/exchange.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Replies to the scheduler. Go decodes them without case, but we write the names as Go has them.
namespace binnacle::extender {

/// 200. Headers say what the decision was made of, so that a reader sees "no data" and finds the record.
http::response answer(std::vector<std::string> body, decider::made made);

/// 4xx: one sentence, and still a valid result of the verb for a caller that reads it anyway.
http::response refusal(decision::verb verb, unsigned status, std::string_view sentence);

/// An exchange that answers `status` whatever the body.
std::unique_ptr<http::exchange> refuse(decision::verb verb, unsigned status, std::string_view sentence);

}  // namespace binnacle::extender
