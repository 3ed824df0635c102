#include "aggregator/kube/refusal.hpp"

#include "aggregator/kube/json.hpp"
#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace binnacle::kube {
namespace {

std::string harmless(std::string_view text) {
  std::string out(text.substr(0, 500));
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  return out;
}

errc code_of(unsigned status) {
  if (status == 401 || status == 403) return errc::permission;
  if (status == 404) return errc::not_found;
  if (status == 429 || status == 503 || status == 504) return errc::overloaded;
  return status >= 500 ? errc::io : errc::invalid_input;
}

}  // namespace

bool refusal::from_the_future() const noexcept {
  return status == 504 && message.find("Too large resource version") != std::string::npos;
}

error refusal::as_error(std::string_view what) const {
  std::string remedy;
  if (status == 401) remedy = "; check the token or certificate";
  if (status == 403) remedy = "; grant it with a ClusterRole (charts/binnacle)";
  return {code_of(status), fmt::format("{}: the API server answered {}{}{}{}", what, status,
                                       message.empty() ? "" : ": ", message, remedy)};
}

refusal refusal_of(const boost::json::object& status) {
  refusal out;
  out.status = static_cast<unsigned>(integer_in(status, "code").value_or(500));
  out.reason = harmless(text_in(status, "reason"));
  out.message = harmless(text_in(status, "message"));
  if (const auto* details = object_in(status, "details")) {
    if (const auto seconds = integer_in(*details, "retryAfterSeconds"); seconds && *seconds > 0)
      out.retry_after = std::chrono::seconds(std::min<std::int64_t>(*seconds, 300));
  }
  return out;
}

std::optional<refusal> refusal_of(const http::answer& a) {
  if (a.status >= 200 && a.status < 300) return std::nullopt;
  refusal out;
  auto parsed = parse_object(a.body);
  if (parsed.has_value() && text_in(*parsed, "kind") == "Status") {
    out = refusal_of(*parsed);
  } else {
    out.message = harmless(a.body);
  }
  out.status = a.status;
  if (const std::string* after = a.header("retry-after")) {
    unsigned seconds = 0;
    const auto [end, failed] = std::from_chars(after->data(), after->data() + after->size(), seconds);
    // A date is allowed, too; no API server sends one.
    if (failed == std::errc() && seconds > 0) out.retry_after = std::chrono::seconds(std::min(seconds, 300u));
  }
  return out;
}

}  // namespace binnacle::kube
