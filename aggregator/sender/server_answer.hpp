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
    later,    ///< send the same request again, after a wait
    refused,  ///< never send it again: the server will never take it
  };
  kind is = kind::taken;
  duration wait_at_least{};    ///< what the server asked for; 0: nothing
  std::string why;             ///< one sentence with the remedy; empty if everything was taken
  std::uint64_t left_out = 0;  ///< samples that will never arrive, if taken or refused
  bool of_content = false;     ///< perhaps because of what is in the request: a part of it may be taken
};

/// The wait that the server's Retry-After asks for, at most five minutes; 0 without one. If it is a point in
/// time, the wait is counted from the answer's Date, so that differences between clocks do not matter.
/// Source: RFC 9110, 10.2.3.
duration retry_after(const http::answer& a);
/// The server's own words as " (words)": the first line, shortened. Empty if it said nothing.
std::string in_brackets(std::string_view words);

/// The outcome for an answer that is not 2xx. If `later`, the same request is sent again after a wait;
/// otherwise never, and `left_out` of its samples are lost. The sentence is made from the server's `words`,
/// from `what` was refused, and from the remedy.
outcome not_taken(const http::answer& a, bool later, std::uint64_t left_out, std::string_view words,
                  std::string_view what, std::string_view remedy);

/// By the rules of remote write: 5xx, 429 and broken connections are tried again, everything else that is not
/// 2xx is not. `answer`: what the client got to a request of so many samples. Retry-After counts, at most
/// five minutes. A server of 2.0 says how many samples it has written, even if it refuses the request (a
/// partial write); the other samples count as left out.
/// Source: prometheus.io/docs/concepts/remote_write_spec, "Retries & Backoff";
/// prometheus.io/docs/specs/prw/remote_write_spec_2_0, "Partial Write".
outcome remote_write_outcome(const result<http::answer>& answer, std::uint64_t samples);

/// The same for a request in 2.0 to a server that gets no other version: a 2xx that does not say how many
/// samples were written means that none were. Source: as above, "Required Written Response Headers".
outcome remote_write_2_outcome(const result<http::answer>& answer, std::uint64_t samples);

/// What an answer tells about whether the server knows the version of the request.
enum class version_sign : std::uint8_t {
  none,     ///< nothing: it is about rights, load or the path
  knows,    ///< the server knows the version
  lacks,    ///< the server lacks the version
  refuses,  ///< perhaps lacks it: refuses the request, for its form or content
  fails,    ///< perhaps lacks it: fails because of the request or something else
};

/// Reads the sign for remote write 2.0. A server that knows 2.0 says how many samples it has written, whether
/// it takes the request or refuses some of it. A server that knows only 1.0 answers 415 or 400, or answers
/// 2xx without that number because it finds nothing that it knows in the body. Some such servers answer 406,
/// 422 or a 5xx. A 5xx with Retry-After is about load.
/// Source: prometheus.io/docs/specs/prw/remote_write_spec_2_0, "Unsupported Request Content", "Required
/// Written Response Headers".
version_sign sign_of_version_2(const http::answer& by);

}  // namespace binnacle::sender
