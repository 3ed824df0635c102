#include "cli/upstream.hpp"

#include "common/http/client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace binnacle::cli {

using async::task;

namespace {
constexpr std::chrono::seconds patience{5};  // as `binnacle status` has it
}

struct upstream::replica {
  replica(endpoint where, std::unique_ptr<tls::context> with)
      : to(std::move(where)),
        security(std::move(with)),
        peer(
            {to.host, to.port, {}}, [this] { return security ? security->current() : nullptr; },
            "binnacle/" BINNACLE_VERSION) {}

  const endpoint to;
  const std::unique_ptr<tls::context> security;  // null: plain HTTP
  http::client peer;
};

upstream::upstream() = default;
upstream::~upstream() = default;
upstream::upstream(upstream&&) noexcept = default;
upstream& upstream::operator=(upstream&&) noexcept = default;

result<upstream> upstream::open(const connection& to) {
  upstream u;
  for (const std::string& url : to.aggregators) {
    auto where = parse_endpoint(url);
    if (where.has_error()) return where.error();
    auto security = security_for(*where, to.pem);
    if (security.has_error()) return security.error();
    u.all_.push_back(std::make_unique<replica>(std::move(*where), std::move(*security)));
  }
  return u;
}

task<upstream::told> upstream::ask(replica& which, std::string target) {
  // A page or a terminal stays open for weeks, certificates do not: a new one in its file is taken.
  if (which.security) which.security->reload_if_changed();
  http::call what;
  what.target = std::move(target);
  what.headers = {{"Accept", "application/json"}};
  what.most_bytes = most_answer_bytes;
  auto got = co_await which.peer.ask(std::move(what), async::within(patience));
  told t{which.to.url, understood(which.to, std::move(got))};
  co_return t;
}

task<upstream::told> upstream::ask_one(std::string target) {
  told last{{}, error{errc::not_found, "no aggregator is given"}};
  for (std::size_t tried = 0; tried < all_.size(); ++tried) {
    const std::size_t asked = (at_ + tried) % all_.size();
    last = co_await ask(*all_[asked], target);
    // A refusal is an answer: another replica would say the same.
    const bool answered = last.said.has_value() || last.said.error().code == errc::invalid_input;
    if (!answered) continue;
    at_ = asked;
    break;
  }
  co_return last;
}

task<std::vector<upstream::told>> upstream::ask_each(std::string target) {
  std::vector<told> all;
  for (const auto& one : all_) {
    told t = co_await ask(*one, target);
    all.push_back(std::move(t));
  }
  co_return all;
}

std::size_t upstream::size() const noexcept { return all_.size(); }

std::chrono::milliseconds upstream::pause_between_lists(std::size_t nodes) {
  return std::clamp<std::chrono::milliseconds>(std::chrono::milliseconds(nodes), std::chrono::seconds(1),
                                               std::chrono::seconds(20));
}

}  // namespace binnacle::cli
