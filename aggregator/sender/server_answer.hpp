#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/response_parser.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::sender {

/// What a server's answer to a request means for it.
struct outcome {
  enum class kind : std::uint8_t {
    taken,    ///< the samples are there
    later,    ///< the same request again, after a wait
    refused,  ///< never again: the server will not take it however often it comes
  };
  kind is = kind::taken;
  duration wait_at_least{};    ///< what the server asked for; 0: nothing
  std::string why;             ///< one sentence with the remedy; empty when all of it was taken
  std::uint64_t left_out = 0;  ///< samples of a request that was taken which the server will never take
};

/// What the server's Retry-After asks for, at most five minutes; 0 where it has none. A time in it is counted
/// from the answer's own Date, so that no difference between clocks plays a part. Source: RFC 9110, 10.2.3.
duration retry_after(const http::answer& a);
/// " (words)" of a server's own: the first line, shortened; empty when it said nothing.
std::string in_brackets(std::string_view words);

/// Of an answer that is no 2xx: the same request again after a wait if `later`, else never again. `words`:
/// the server's own, `what` is refused, and the remedy, all for the sentence.
outcome not_taken(const http::answer& a, bool later, std::string_view words, std::string_view what,
                  std::string_view remedy);

/// By the rules of remote write: 5xx, 429 and broken connections are tried again, everything else that is not
/// 2xx is not. `answer`: what the client got. Retry-After counts, at most five minutes.
/// Source: prometheus.io/docs/concepts/remote_write_spec, "Retries & Backoff".
outcome remote_write_outcome(const result<http::answer>& answer);

/// Whether the answer to a request in remote write 2.0 comes from a server that knows only 1.0: it refuses
/// the form (415, or 400 to the first requests), or it takes the request without saying how many samples it
/// has written, which it must say in 2.0 and which an older one does when it finds nothing that it knows in
/// the body. `took_one`: whether it has taken a request in 2.0 before.
/// Source: prometheus.io/docs/specs/prw/remote_write_spec_2_0, "Unsupported Request Content", "Required
/// Written Response Headers".
bool is_version_1_server(const http::answer& by, bool took_one);

}  // namespace binnacle::sender
