#pragma once

#include "aggregator/sender/server_answer.hpp"

namespace binnacle::sender {

/// What an OTLP server's answer to a request means for it. 429, 502, 503, 504 and broken connections are
/// tried again, after Retry-After if it is given; every other answer but 2xx refuses the request for good.
/// A partial success counts as taken; readings that the server left out are counted and never sent again.
/// `samples`: how many readings the request has.
/// Source: opentelemetry-proto, docs/specification.md, "OTLP/HTTP Response".
outcome otlp_outcome(const result<http::answer>& answer, std::uint64_t samples);

}  // namespace binnacle::sender
