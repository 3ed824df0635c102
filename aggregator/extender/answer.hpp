#pragma once

#include "aggregator/extender/context.hpp"
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

/// A 4xx with one sentence, counted and logged. The body is a valid result of the verb, for a caller that
/// ignores the status.
http::response refused(context& shared, decision::verb verb, unsigned status, std::string_view sentence);

/// An exchange that is refused so, whatever the request's body is.
std::unique_ptr<http::exchange> refuse(context& shared, decision::verb verb, unsigned status,
                                       std::string_view sentence);

}  // namespace binnacle::extender
