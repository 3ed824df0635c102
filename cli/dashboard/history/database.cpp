#include "cli/dashboard/history/database.hpp"

#include "cli/dashboard/history/answer.hpp"
#include "common/async/task_group.hpp"
#include "common/http/client/client.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace binnacle::cli::dashboard::history {

using async::task;

namespace {

constexpr std::chrono::seconds servers_patience{8};  // less than ours: so the server's own error arrives

std::int64_t unix_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string base_of(const http::destination& to) {
  return fmt::format("{}://{}", to.secure ? "https" : "http", to_string(to.at));
}

result<metrics::label_set> labels_of(const std::vector<std::string>& where) {
  metrics::label_set out;
  for (const std::string& text : where) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (equals == text.npos || equals == 0 || name.find_first_not_of(letters) != name.npos ||
        (name[0] >= '0' && name[0] <= '9') || name == "node")
      return error{errc::invalid_input,
                   fmt::format("--history-label '{}' is no label: write KEY=VALUE, as cluster=blue", text)};
    out.emplace_back(name, text.substr(equals + 1));
  }
  return out;
}

}  // namespace

struct database::impl {
  impl(async::loop& on, http::destination where, http::proof p, metrics::label_set l, naming n,
       std::unique_ptr<tls::context> s, logger log)
      : to(std::move(where)),
        base(base_of(to)),
        who(std::move(p)),
        labels(std::move(l)),
        names(n),
        security(std::move(s)),
        wire(
            {to.at.host, to.at.port, {}}, [this] { return security ? security->current() : nullptr; },
            "binnacle/" BINNACLE_VERSION),
        group(on, std::move(log)) {}

  static task<void> answer(std::shared_ptr<impl> self, question q,
                           std::function<void(result<std::string>)> then);
  task<result<std::string>> told(question q);

  const http::destination to;
  const std::string base;
  const http::proof who;
  const metrics::label_set labels;
  const naming names;
  const std::unique_ptr<tls::context> security;  // null: plain HTTP
  http::client wire;
  std::size_t asking = 0;
  async::task_group group;
};

task<result<std::string>> database::impl::told(question q) {
  const auto query = promql(q, labels, names);
  if (query.has_error()) co_return query.error();
  // The page may stay open for weeks, longer than certificates and tokens last.
  if (security) security->reload_if_changed();
  const range when = range_of(q.over, unix_s());
  http::call what;
  what.target = target_of(to.target, *query, when, q.over.step, servers_patience);
  what.headers = {{"Accept", "application/json"}};
  what.most_bytes = most_bytes;
  if (!who.token_file.empty()) {
    auto header = http::authorization(who);
    if (header.has_error()) {
      co_return error{header.error().code,
                      fmt::format("--history-token {}: {}", who.token_file, header.error().message)};
    }
    what.headers.emplace_back("Authorization", std::move(*header));
  }
  const auto got = co_await wire.ask(std::move(what), async::within(patience));
  const auto lines = understood(base, got, when);
  if (lines.has_error()) co_return lines.error();
  co_return page_text(*lines, when, q.over.step, *query);
}

result<void> check(const settings& s) {
  if (const auto fits = http::check_destination(s.url, s.who, "history", example_url); fits.has_error())
    return fits.error();
  if (const auto labels = labels_of(s.where); labels.has_error()) return labels.error();
  if (const auto names = parse_naming(s.names); names.has_error()) return names.error();
  return {};
}

result<std::unique_ptr<database>> database::open(async::loop& on, const settings& s, logger log) {
  if (const auto fits = check(s); fits.has_error()) return fits.error();
  auto to = http::parse_destination(s.url, "history", example_url);
  if (to.has_error()) return to.error();
  auto security = http::security_for(*to, s.who);
  if (security.has_error()) return security.error();
  auto made = std::make_shared<impl>(on, std::move(*to), s.who, labels_of(s.where).value(),
                                     parse_naming(s.names).value(), std::move(*security), std::move(log));
  return std::unique_ptr<database>(new database(std::move(made)));
}

database::database(std::shared_ptr<impl> i) : impl_(std::move(i)) {}
database::~database() = default;

// `self` keeps the database alive during the question. `asking` counts the question until it is answered or
// cancelled.
task<void> database::impl::answer(std::shared_ptr<impl> self, question q,
                                  std::function<void(result<std::string>)> then) {
  struct place {
    std::size_t& count;
    explicit place(std::size_t& c) : count(c) { ++count; }
    ~place() { --count; }
  };
  const auto ask = [](impl& of, question what) -> task<result<std::string>> {
    const place taken(of.asking);
    auto telling = of.told(std::move(what));
    co_return co_await std::move(telling);
  };
  auto asked = ask(*self, std::move(q));
  then(co_await std::move(asked));
}

void database::ask(question q, std::function<void(result<std::string>)> then) {
  if (impl_->asking >= most_at_once) {
    return then(error{errc::overloaded, fmt::format("the open pages ask {} for history {} times already: it "
                                                    "is slow, and this page asks again soon",
                                                    impl_->base, most_at_once)});
  }
  impl_->group.spawn("history", impl::answer(impl_, std::move(q), std::move(then)));
}

void database::stop() { impl_->group.cancel(); }

}  // namespace binnacle::cli::dashboard::history
