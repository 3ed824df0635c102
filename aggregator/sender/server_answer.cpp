#include "aggregator/sender/server_answer.hpp"

#include "common/http/date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace binnacle::sender {
namespace {

constexpr std::size_t most_words = 200;  // bytes of a server's own words that we repeat
constexpr std::chrono::minutes longest_pause(5);

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
  unsigned seconds = 0;
  if (text == nullptr) return {};
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (bad == std::errc{} && end == text->data() + text->size())
    return std::min<duration>(std::chrono::seconds(seconds), longest_pause);
  const auto until = http::parse_date(*text);
  const auto told = now == nullptr ? std::nullopt : http::parse_date(*now);
  if (!until || !told) return {};
  return std::clamp<duration>(*until - *told, {}, longest_pause);
}

std::string in_brackets(std::string_view words) {
  const std::string_view first = words.substr(0, std::min(words.find('\n'), most_words));
  return first.empty() ? std::string() : fmt::format(" ({})", first);
}

outcome not_taken(const http::answer& a, bool later, std::string_view words, std::string_view what,
                  std::string_view remedy) {
  const std::string said = in_brackets(words);
  if (later)
    return {outcome::kind::later, retry_after(a), fmt::format("the server answers {}{}", a.status, said)};
  return {outcome::kind::refused,
          {},
          fmt::format("the server refuses {} with {}{}: {}", what, a.status, said, remedy)};
}

outcome remote_write_outcome(const result<http::answer>& answer) {
  if (answer.has_error()) return {outcome::kind::later, {}, answer.error().message};
  const unsigned status = answer->status;
  if (status / 100 == 2) return {};
  return not_taken(*answer, status == 429 || status / 100 == 5, answer->body, "samples", remedy_of(status));
}

bool is_version_1_server(const http::answer& by, bool took_one) {
  if (by.status / 100 == 2) return by.header("x-prometheus-remote-write-samples-written") == nullptr;
  return by.status == 415 || (by.status == 400 && !took_one);
}

}  // namespace binnacle::sender
