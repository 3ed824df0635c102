#include "agent/sources/scrape/scraper.hpp"

#include "agent/base/token_file.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::agent {
namespace {

using async::task;

constexpr std::size_t most_samples = 100'000;  // includes samples that are not taken
constexpr std::size_t most_families = 5'000;

std::string remedy(errc code) {
  switch (code) {
    case errc::disconnected: return "start the exporter, or name another address";
    case errc::timeout: return "if it is slow, give it a longer timeout and period in scrape-file";
    case errc::not_found: return "check the host and the path";
    case errc::permission: return "check ca, cert, key and token-file in scrape-file";
    case errc::overloaded: return "narrow what it serves, or raise bytes in scrape-file";
    case errc::unsupported: return "name the address that it leads to";
    case errc::protocol: return "is that the port of an exporter, and is it http or https?";
    case errc::invalid_input: return "is that the path of its metrics?";
    default: return "look at the exporter's log";
  }
}

}  // namespace

scraper::scraper(scrape_target wanted, clocks time)
    : wanted_(std::move(wanted)),
      time_(std::move(time)),
      picked_(wanted_),
      client_(
          {wanted_.at.host, wanted_.at.port, wanted_.server_name},
          [this] { return tls_ ? tls_->current() : nullptr; }, "binnacle-agent/" BINNACLE_VERSION) {}

task<scrape_outcome> scraper::once(std::shared_ptr<scraper> self) {
  const auto begun = std::chrono::steady_clock::now();
  scrape_outcome out;
  const auto read = co_await self->read(out, begun + self->wanted_.timeout);
  out.took = std::chrono::steady_clock::now() - begun;
  if (read.has_error()) {
    out.why = read.error();
    out.remedy = remedy(out.why.code);
  }
  co_return out;
}

result<http::call> scraper::request() {
  http::call get;
  get.target = wanted_.path;
  get.headers = {{"Accept", "text/plain;version=0.0.4,*/*;q=0.1"}, {"Connection", "close"}};
  get.most_bytes = wanted_.bytes;
  if (!wanted_.secure) return get;
  if (!tls_) {
    tls::options o;
    o.side = tls::role::client;
    o.pem = wanted_.pem;
    o.alpn = "http/1.1";
    auto loaded = tls::context::load(std::move(o));
    if (!loaded) return loaded.error();
    tls_ = std::move(*loaded);
  } else {
    (void)tls_->reload_if_changed();  // if that fails, the files loaded before are used
  }
  if (!wanted_.token_file.empty()) {
    const auto token = read_token(wanted_.token_file);
    if (!token) return error{errc::permission, "no token: " + token.error().message};
    get.headers.emplace_back("Authorization", "Bearer " + *token);
  }
  return get;
}

result<void> scraper::check(const http::answer& head) const {
  if (head.status >= 300 && head.status < 400) {
    const auto* to = head.header("location");
    return error{errc::unsupported,
                 fmt::format("answered {}, a redirect to {}, which is not followed", head.status,
                             in_quotes(to == nullptr ? std::string_view() : *to, 80))};
  }
  if (head.status != 200) {
    const auto code = head.status == 401 || head.status == 403 ? errc::permission
                      : head.status < 500                      ? errc::not_found
                                                               : errc::io;
    return error{code, fmt::format("answered {}", head.status)};
  }
  const auto* encoding = head.header("content-encoding");
  if (encoding != nullptr && *encoding != "identity")
    return error{errc::protocol,
                 fmt::format("the answer is packed ({}), which was not asked for", in_quotes(*encoding, 80))};
  const auto* type = head.header("content-type");
  if (type != nullptr && type->find("html") != type->npos)
    return error{errc::invalid_input, "answered a web page, no metrics"};
  return {};
}

task<result<void>> scraper::read(scrape_outcome& out, async::deadline until) {
  auto get = request();
  if (get.has_error()) co_return get.error();
  auto answer = co_await client_.open(std::move(*get), until);
  if (answer.has_error()) co_return answer.error();
  if (const auto right = check(answer->head()); right.has_error()) co_return right.error();

  exposition::limits bounds;
  bounds.bytes = wanted_.bytes;
  bounds.series = most_samples;
  bounds.families = most_families;
  const auto* type = answer->head().header("content-type");
  const bool open = type != nullptr && type->find("openmetrics") != type->npos;
  const auto take = [this](const exposition::sample& s) { picked_.take(s); };
  exposition::parser parser(bounds, open ? exposition::form::openmetrics : exposition::form::plain, take);
  picked_.begin();
  for (;;) {
    auto piece = co_await answer->next(until);
    if (piece.has_error()) co_return piece.error();
    const bool complete = piece->empty();
    out.bytes += piece->size();
    const auto parsed = complete ? parser.finish() : parser.feed(*piece);
    if (parsed.has_error()) co_return parsed.error();
    if (complete) break;
  }
  out.at = time_.now();
  out.reading = picked_.finish(out.at);
  if (tls_) out.remark = tls_->trouble();
  if (out.remark.empty()) out.remark = out.reading->remark;
  co_return result<void>();
}

}  // namespace binnacle::agent
