#include "cli/upstream.hpp"

#include "cli/ask.hpp"
#include "common/http/client/client.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace binnacle::cli {

using async::task;

namespace {
constexpr std::chrono::seconds patience{5};  // the same as that of `binnacle status`
}

struct upstream::replica {
  replica(server_url where, std::unique_ptr<tls::context> with, const connection& as)
      : to(std::move(where)),
        security(std::move(with)),
        token_file(as.token_file),
        peer(
            {to.at.host, to.at.port, as.server_name},
            [this] { return security ? security->current() : nullptr; }, "binnacle/" BINNACLE_VERSION) {}

  const server_url to;
  const std::unique_ptr<tls::context> security;  // null: plain HTTP
  const std::string token_file;
  http::client peer;
};

upstream::upstream() = default;
upstream::~upstream() = default;
upstream::upstream(upstream&&) noexcept = default;
upstream& upstream::operator=(upstream&&) noexcept = default;

result<upstream> upstream::open(const connection& to) {
  upstream u;
  for (const std::string& url : to.aggregators) {
    auto where = parse_server_url(url);
    if (where.has_error()) return where.error();
    auto security = security_for(*where, to);
    if (security.has_error()) return security.error();
    u.all_.push_back(std::make_unique<replica>(std::move(*where), std::move(*security), to));
  }
  return u;
}

task<upstream::told> upstream::ask(replica& which, std::string target) {
  // A page or a terminal may stay open for weeks, longer than certificates and tokens last. So files that
  // changed are read again.
  if (which.security) which.security->reload_if_changed();
  auto what = call_for(std::move(target), which.token_file, most_answer_bytes);
  if (what.has_error()) {
    told unasked{which.to.url, what.error(), 0};
    co_return unasked;
  }
  auto got = co_await which.peer.ask(std::move(*what), async::within(patience));
  const unsigned status = got.has_value() ? got->status : 0;
  told t{which.to.url, understood(which.to, std::move(got)), status};
  co_return t;
}

task<upstream::told> upstream::ask_one(std::string target) {
  told best{{}, error{errc::not_found, "no aggregator is given"}};
  for (std::size_t tried = 0; tried < all_.size(); ++tried) {
    const std::size_t asked = (at_ + tried) % all_.size();
    told t = co_await ask(*all_[asked], target);
    // Every replica would refuse a wrong question (400). Any other refusal concerns this replica only: it is
    // busy, is stopping, or has just started and does not know the node yet.
    if (t.said.has_value() || t.status == 400) {
      at_ = asked;
      co_return t;
    }
    // A replica's own refusal is worth more to the person than the fact that another replica cannot be
    // reached.
    if (tried == 0 || (best.status == 0 && t.status != 0)) best = std::move(t);
  }
  co_return best;
}

task<void> upstream::ask_into(std::size_t which, std::string target, std::vector<told>& all) {
  told t = co_await ask(*all_[which], std::move(target));
  all[which] = std::move(t);
}

task<void> upstream::ask_from(std::size_t first, std::string target, std::vector<told>& all) {
  using namespace boost::asio::experimental::awaitable_operators;
  if (first == all_.size()) co_return;
  auto one = ask_into(first, target, all);
  auto others = ask_from(first + 1, target, all);
  co_await (std::move(one) && std::move(others));
}

task<std::vector<upstream::told>> upstream::ask_each(std::string target) {
  const told nothing{{}, error{errc::disconnected, "not asked"}};
  std::vector<told> all(all_.size(), nothing);
  co_await ask_from(0, std::move(target), all);
  co_return all;
}

std::size_t upstream::size() const noexcept { return all_.size(); }

std::chrono::milliseconds upstream::pause_between_lists(std::size_t nodes) {
  return std::clamp<std::chrono::milliseconds>(std::chrono::milliseconds(nodes), std::chrono::seconds(1),
                                               std::chrono::seconds(20));
}

}  // namespace binnacle::cli
