#pragma once

#include "aggregator/extender/decider.hpp"
#include "common/http/exchange.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Replies to the scheduler. Go ignores the case of the names in them; we write the names as Go does.
namespace binnacle::extender {

/// An answer with status 200. Its headers say what the decision was based on, so that a reader sees "no data"
/// and can find the record.
http::response answer(std::vector<std::string> body, decider::made made);

/// A 4xx with one sentence. The body is a valid result of the verb, for a caller that ignores the status.
http::response refusal(decision::verb verb, unsigned status, std::string_view sentence);

/// An exchange that answers `status` whatever the request's body is.
std::unique_ptr<http::exchange> refuse(decision::verb verb, unsigned status, std::string_view sentence);

}  // namespace binnacle::extender
