#include "aggregator/kube/client/client.hpp"

#include "aggregator/kube/client/credentials.hpp"
#include "common/log/rare_warning.hpp"
#include "common/text/json_reader.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::kube {

using async::deadline;
using async::task;

struct client::impl {
  impl(access a, std::shared_ptr<credentials> c, logger l)
      : log(std::move(l)),
        to(std::move(a)),
        who(std::move(c)),
        wire(
            {to.host, to.port, to.server_name}, [known = who] { return known->tls(); },
            "binnacle-aggregator/" BINNACLE_VERSION " (linux)") {}

  /// Gets fresh credentials. If there are none in time, that counts as a call that broke.
  task<result<void>> refresh(deadline until);
  http::call dressed(http::call what) const;
  /// Counts the answer. True: the call may succeed with fresh credentials.
  bool count(const result<unsigned>& status);

  const logger log;
  const access to;
  const std::shared_ptr<credentials> who;
  http::client wire;
  counters numbers;
  rare_warning left_out_warning;
};

http::call client::impl::dressed(http::call what) const {
  what.target = to.path + what.target;
  if (!who->token().empty()) what.headers.emplace_back("Authorization", "Bearer " + who->token());
  return what;
}

bool client::impl::count(const result<unsigned>& status) {
  ++numbers.calls;
  if (status.has_error()) {
    ++numbers.broken;
    return false;
  }
  if (*status >= 400) ++numbers.refused;
  return *status == 401 && who->refused();
}

task<result<void>> client::impl::refresh(deadline until) {
  auto fresh = co_await who->refresh(until);
  if (fresh.has_error()) count(fresh.error());
  co_return fresh;
}

client::client(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
client::~client() = default;

result<std::shared_ptr<client>> client::open(access to, logger log) {
  if (const auto direct = check_direct(to); direct.has_error()) return direct.error();
  auto who = credentials::open(to, log);
  if (who.has_error()) return who.error();
  auto made = std::make_unique<impl>(std::move(to), std::move(*who), std::move(log));
  return std::shared_ptr<client>(new client(std::move(made)));
}

task<result<http::answer>> client::ask(http::call what, deadline until) {
  for (bool again = false;; again = true) {
    const auto fresh = co_await impl_->refresh(until);
    if (fresh.has_error()) co_return fresh.error();
    http::call ready = impl_->dressed(what);
    auto got = co_await impl_->wire.ask(std::move(ready), until);
    const bool worth_it =
        impl_->count(got.has_error() ? result<unsigned>(got.error()) : result<unsigned>(got->status));
    if (!worth_it || again) co_return got;
  }
}

task<result<http::answer_stream>> client::stream(http::call what, deadline until) {
  what.most_bytes = std::size_t(-1);  // no limit for a watch, which lives for minutes: each object has one
  const auto fresh = co_await impl_->refresh(until);
  if (fresh.has_error()) co_return fresh.error();
  http::call ready = impl_->dressed(std::move(what));
  auto got = co_await impl_->wire.open(std::move(ready), until);
  impl_->count(got.has_error() ? result<unsigned>(got.error()) : result<unsigned>(got->head().status));
  co_return got;
}

void client::left_out(std::uint64_t members, std::string_view of, instant now) {
  impl_->numbers.members_left_out += members;
  impl_->left_out_warning.say(
      impl_->log, now,
      fmt::format("{}: {} labels or annotations are not read, because only the first {} of an object are: "
                  "remove those that nobody needs",
                  of, members, json_reader::most_members));
}

const access& client::where() const noexcept { return impl_->to; }
const client::counters& client::stats() const noexcept { return impl_->numbers; }

}  // namespace binnacle::kube
