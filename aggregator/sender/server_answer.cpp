#include "aggregator/sender/server_answer.hpp"

#include "common/http/date.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace binnacle::sender {
namespace {

constexpr std::size_t most_words = 200;  // bytes of a server's own words that we repeat
constexpr std::chrono::minutes longest_pause(5);
constexpr const char* written_header = "x-prometheus-remote-write-samples-written";

/// How many samples a server of remote write 2.0 says it has written; none if it does not say so, or not as a
/// number.
std::optional<std::uint64_t> samples_written(const http::answer& a) {
  const std::string* text = a.header(written_header);
  return text == nullptr ? std::nullopt : parse_unsigned(*text);
}

/// Prometheus and Mimir answer 400 to samples that they do not take, Thanos 409, others 422. Other refusals
/// are about rights, the path, or the form of the whole request.
bool refuses_content(unsigned status) { return status == 400 || status == 409 || status == 422; }

/// Whether a server that fails may do so because of what is in the request. 503 and Retry-After are about
/// load, and 429 too.
bool may_fail_at_content(const http::answer& a) {
  return a.status / 100 == 5 && a.status != 503 && a.header("retry-after") == nullptr;
}

std::string_view remedy_of(unsigned status) {
  switch (status) {
    case 400: return "its log says which samples it refuses";
    case 401:
    case 403: return "give --remote-write-token, --remote-write-user or --remote-write-cert that it accepts";
    case 404:
      return "look at the path; Prometheus takes samples only with --web.enable-remote-write-receiver";
    case 413: return "raise the server's limit of a request's size to 8 MiB";
    case 415: return "it speaks neither remote write 2.0 nor 1.0";
    default: return "look at its log";
  }
}

}  // namespace

duration retry_after(const http::answer& a) {
  const std::string* text = a.header("retry-after");
  const std::string* now = a.header("date");
  if (text == nullptr) return {};
  if (const auto seconds = read_number<unsigned>(*text))
    return std::min<duration>(std::chrono::seconds(*seconds), longest_pause);
  const auto until = http::parse_date(*text);
  const auto told = now == nullptr ? std::nullopt : http::parse_date(*now);
  if (!until || !told) return {};
  return std::clamp<duration>(*until - *told, {}, longest_pause);
}

std::string in_brackets(std::string_view words) {
  const std::string_view first = words.substr(0, std::min(words.find('\n'), most_words));
  return first.empty() ? std::string() : fmt::format(" ({})", first);
}

outcome not_taken(const http::answer& a, bool later, std::uint64_t left_out, std::string_view words,
                  std::string_view what, std::string_view remedy) {
  const std::string said = in_brackets(words);
  if (later)
    return {outcome::kind::later, retry_after(a), fmt::format("the server answers {}{}", a.status, said), 0,
            may_fail_at_content(a)};
  return {outcome::kind::refused,
          {},
          fmt::format("the server refuses {} with {}{}: {}", what, a.status, said, remedy),
          left_out,
          refuses_content(a.status)};
}

outcome remote_write_outcome(const result<http::answer>& answer, std::uint64_t samples) {
  if (answer.has_error()) return {outcome::kind::later, {}, answer.error().message};
  const unsigned status = answer->status;
  const bool taken = status / 100 == 2;
  const std::uint64_t written = std::min(samples_written(*answer).value_or(taken ? samples : 0), samples);
  if (!taken)
    return not_taken(*answer, status == 429 || status / 100 == 5, samples - written, answer->body,
                     written == 0 ? "samples" : "some samples", remedy_of(status));
  outcome out;
  out.left_out = samples - written;
  if (out.left_out != 0) out.why = "the server leaves out some samples: its log says which";
  return out;
}

outcome remote_write_2_outcome(const result<http::answer>& answer, std::uint64_t samples) {
  if (answer.has_value() && answer->status / 100 == 2 && !samples_written(*answer))
    return {outcome::kind::refused,
            {},
            "the server takes requests in remote write 2.0 without saying what it has written, as one does "
            "that knows only 1.0: set --remote-write-version to auto",
            samples};
  return remote_write_outcome(answer, samples);
}

version_sign sign_of_version_2(const http::answer& by) {
  if (by.status == 415) return version_sign::lacks;
  if (by.header(written_header) != nullptr) return version_sign::knows;
  if (by.status / 100 == 2) return version_sign::lacks;
  switch (by.status) {
    case 400:
    case 406:
    case 422: return version_sign::refuses;
    default: break;
  }
  return by.status / 100 == 5 && by.header("retry-after") == nullptr ? version_sign::fails
                                                                     : version_sign::none;
}

}  // namespace binnacle::sender
