#include "aggregator/callers/agent_tokens.hpp"

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/reviews/reviewer.hpp"
#include "common/async/task_group.hpp"
#include "common/http/base64.hpp"
#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <map>

namespace binnacle::callers {

using async::task;
using namespace std::chrono_literals;

namespace {

/// An agent gives up its hello after ten seconds, so a later answer would be of no use.
constexpr auto patience = 8s;
constexpr std::size_t most_vouched = 20'000;

}  // namespace

duration time_left(std::string_view token, std::chrono::system_clock::time_point now) {
  const auto head = token.find('.');
  const auto tail = token.find('.', head + 1);
  if (head == token.npos || tail == token.npos) return 10min;
  const auto claims = http::from_base64url(token.substr(head + 1, tail - head - 1));
  if (claims.has_error()) return 10min;
  const auto object = kube::parse_object(*claims);
  if (object.has_error()) return 10min;
  const auto exp = integer_in(*object, "exp");
  if (!exp) return 10min;
  const auto today = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  constexpr std::int64_t least = 60, most = 86'400;
  // A token may claim any time in `exp`. The clamp keeps the difference below from overflowing.
  const std::int64_t end = std::clamp(*exp, today, today + most);
  // If our clock is behind, the token must not count for longer than the time from `iat` to `exp`.
  const std::int64_t issued = std::clamp(integer_in(*object, "iat").value_or(end - most), end - most, end);
  return std::chrono::seconds(std::max(std::min(end - today, end - issued), least));
}

struct agent_tokens::impl : std::enable_shared_from_this<agent_tokens::impl> {
  impl(async::loop& on, std::shared_ptr<kube::client> api, std::string a, logger log)
      : audience(std::move(a)), reviews(std::move(api)), running(on, std::move(log)) {}

  struct question {
    std::string token;
    then tell;
    async::deadline until;
  };
  struct voucher {
    kube::token_answer review;
    instant ends;
  };

  static task<void> work(std::shared_ptr<impl> self, std::shared_ptr<int> worker);
  task<result<answer>> find_out(std::string token, async::deadline until);
  task<result<answer>> find_out_or_say(std::string token, async::deadline until);
  void vouch(const kube::question_key& key, const answer& said, instant now);

  const std::string audience;
  kube::reviewer reviews;
  std::deque<question> waiting;
  std::shared_ptr<int> workers = std::make_shared<int>();  // use_count() - 1 is the number of workers
  std::map<kube::question_key, voucher> vouchers;          // of tokens that have not expired
  std::uint64_t vouched = 0, turned_away = 0;
  async::task_group running;
};

void agent_tokens::impl::vouch(const kube::question_key& key, const answer& said, instant now) {
  if (!said.review.authenticated) {
    vouchers.erase(key);
    return;
  }
  if (vouchers.size() >= most_vouched)
    std::erase_if(vouchers, [now](const auto& v) { return now >= v.second.ends; });
  if (vouchers.size() < most_vouched) vouchers.insert_or_assign(key, voucher{said.review, said.ends});
}

task<result<agent_tokens::answer>> agent_tokens::impl::find_out(std::string token, async::deadline until) {
  const kube::question_key key = kube::key_of(token);
  const duration left = time_left(token, std::chrono::system_clock::now());
  std::vector<std::string> audiences{audience};
  auto review = co_await reviews.token(std::move(token), std::move(audiences), until);
  const instant now = boot_clock::now();
  if (review.has_value()) {
    answer out{std::move(*review), now + left};
    vouch(key, out, now);
    co_return out;
  }
  if (const auto at = vouchers.find(key); at != vouchers.end() && now < at->second.ends) {
    ++vouched;
    co_return answer{at->second.review, at->second.ends};
  }
  co_return error{review.error().code, "the agent's token cannot be checked now: " + review.error().message};
}

// The caller gets an answer in any case, even if find_out() throws.
task<result<agent_tokens::answer>> agent_tokens::impl::find_out_or_say(std::string token,
                                                                       async::deadline until) {
  try {
    auto said = co_await find_out(std::move(token), until);
    co_return said;
  } catch (const std::exception& e) {
    co_return error{errc::internal, fmt::format("the agent's token cannot be checked now: {}", e.what())};
  }
}

task<void> agent_tokens::impl::work(std::shared_ptr<impl> self, std::shared_ptr<int> /*worker*/) {
  while (!self->waiting.empty()) {
    question next = std::move(self->waiting.front());
    self->waiting.pop_front();
    auto said = co_await self->find_out_or_say(std::move(next.token), next.until);
    next.tell(std::move(said));
  }
}

agent_tokens::agent_tokens(async::loop& on, std::shared_ptr<kube::client> api, std::string audience,
                           logger log)
    : impl_(std::make_shared<impl>(on, std::move(api), std::move(audience), std::move(log))) {}
agent_tokens::~agent_tokens() { impl_->running.cancel(); }

void agent_tokens::ask(std::string token, then tell) {
  impl& self = *impl_;
  if (self.waiting.size() >= most_waiting) {
    ++self.turned_away;
    return tell(error{errc::overloaded, "too many agents' tokens wait to be checked: come back later"});
  }
  self.waiting.push_back({std::move(token), std::move(tell), async::within(patience)});
  if (self.workers.use_count() > most_at_once) return;
  self.running.spawn("agents' tokens", impl::work(impl_, self.workers));
}

token_counters agent_tokens::counted() const noexcept {
  const kube::reviewer::counters& r = impl_->reviews.stats();
  return {r.asked, r.remembered, impl_->vouched, r.failed, impl_->turned_away + r.turned_away};
}

}  // namespace binnacle::callers
