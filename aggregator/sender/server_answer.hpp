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
  std::uint64_t left_out = 0;  ///< samples of a request that was taken or refused which will never be there
};

/// What the server's Retry-After asks for, at most five minutes; 0 where it has none. A time in it is counted
/// from the answer's own Date, so that no difference between clocks plays a part. Source: RFC 9110, 10.2.3.
duration retry_after(const http::answer& a);
/// " (words)" of a server's own: the first line, shortened; empty when it said nothing.
std::string in_brackets(std::string_view words);

/// Of an answer that is no 2xx: the same request again after a wait if `later`, else never again, and
/// `left_out` of its samples are lost. `words`: the server's own, `what` is refused, and the remedy, all for
/// the sentence.
outcome not_taken(const http::answer& a, bool later, std::uint64_t left_out, std::string_view words,
                  std::string_view what, std::string_view remedy);

/// By the rules of remote write: 5xx, 429 and broken connections are tried again, everything else that is not
/// 2xx is not. `answer`: what the client got to a request of so many samples. Retry-After counts, at most
/// five minutes. A server of 2.0 says how many samples it has written, of a request that it refuses as well
/// (a partial write): the others are left out.
/// Source: prometheus.io/docs/concepts/remote_write_spec, "Retries & Backoff";
/// prometheus.io/docs/specs/prw/remote_write_spec_2_0, "Partial Write".
outcome remote_write_outcome(const result<http::answer>& answer, std::uint64_t samples);

/// The same of a request in 2.0 to a server that gets no other version: 2xx without the number of samples
/// written means none. Source: as above, "Required Written Response Headers".
outcome remote_write_2_outcome(const result<http::answer>& answer, std::uint64_t samples);

/// What the answer to a request says of whether the server knows the version that the request is in.
enum class version_sign : std::uint8_t {
  none,     ///< nothing: it speaks of rights, of load, of a path
  knows,    ///< it does
  lacks,    ///< it does not
  refuses,  ///< perhaps not: it refuses the request, for its form or for what is in it
  fails,    ///< perhaps not: it stumbles over the request, or over something else
};

/// Of remote write 2.0. A server that knows it says how many samples it has written, whether it takes the
/// request or refuses some of it. One that knows only 1.0 answers 415, or 400; or takes the request without
/// that number, as it does when it finds nothing in the body that it knows; and some answer 406, 422 or a
/// 5xx. A 5xx with Retry-After speaks of load.
/// Source: prometheus.io/docs/specs/prw/remote_write_spec_2_0, "Unsupported Request Content", "Required
/// Written Response Headers".
version_sign sign_of_version_2(const http::answer& by);

}  // namespace binnacle::sender
