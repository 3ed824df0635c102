#include "aggregator/kube/reviews/reviewer.hpp"

#include "aggregator/kube/refusal.hpp"
#include "common/async/timers.hpp"
#include "common/backoff.hpp"

#include <algorithm>
#include <random>

namespace binnacle::kube {

using async::deadline;
using async::task;

namespace {

constexpr int most_tries = 5;
// The pauses are short, because a caller's request waits for the answer.
constexpr backoff::settings retry_pauses{std::chrono::milliseconds(250), std::chrono::milliseconds(750),
                                         std::chrono::seconds(2)};
constexpr auto one_try = std::chrono::seconds(10);
constexpr std::size_t longest_remembered = 10'000;  // bytes of a question

bool may_pass(errc code) {
  return code == errc::io || code == errc::overloaded || code == errc::disconnected || code == errc::timeout;
}

struct under_way {
  explicit under_way(std::size_t& n) : count(n) { ++count; }
  ~under_way() { --count; }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
  std::size_t& count;
};

}  // namespace

struct reviewer::impl {
  template <class Answer, class Read>
  task<result<Answer>> ask(answer_cache<Answer>& known, http::call what, Read read, deadline until);

  std::shared_ptr<client> api;
  answer_cache<token_answer> tokens;
  answer_cache<access_answer> rights;
  std::mt19937_64 random{std::random_device{}()};
  std::size_t busy = 0;
  counters numbers;
};

template <class Answer, class Read>
task<result<Answer>> reviewer::impl::ask(answer_cache<Answer>& known, http::call what, Read read,
                                         deadline until) {
  const question_key key = key_of(what.body);
  if (const Answer* v = known.find(key, boot_clock::now())) {
    ++numbers.remembered;
    co_return *v;
  }
  if (busy >= most_at_once) {
    ++numbers.turned_away;
    co_return error{errc::overloaded, "too many questions to the API server are under way: try again"};
  }
  const under_way counted(busy);
  backoff pauses(retry_pauses);
  for (int tries = 1;; ++tries) {
    ++numbers.asked;
    http::call again = what;
    auto got = co_await api->ask(std::move(again), std::min(until, async::within(one_try)));
    result<Answer> answer = got.has_error() ? result<Answer>(got.error()) : read(*got);
    if (answer.has_value()) {
      if (what.body.size() <= longest_remembered) known.put(key, *answer, boot_clock::now());
      co_return answer;
    }
    const auto refused = got.has_error() ? std::nullopt : refusal_of(*got);
    const duration pause =
        pauses.next(random, refused ? refused->retry_after.value_or(duration::zero()) : duration::zero());
    const bool late = async::within(pause) >= until;
    if (!may_pass(answer.error().code) || tries == most_tries || late) {
      ++numbers.failed;
      co_return answer.error();
    }
    co_await async::sleep_for(pause);
  }
}

reviewer::reviewer(std::shared_ptr<client> api) : impl_(std::make_shared<impl>()) {
  impl_->api = std::move(api);
}
reviewer::~reviewer() = default;

std::optional<token_answer> reviewer::remembered(std::string_view bearer,
                                                 const std::vector<std::string>& audiences) {
  const token_answer* known =
      impl_->tokens.find(key_of(token_review(bearer, audiences).body), boot_clock::now());
  if (known == nullptr) return std::nullopt;
  ++impl_->numbers.remembered;
  return *known;
}

task<result<token_answer>> reviewer::token(std::string bearer, std::vector<std::string> audiences,
                                           deadline until) {
  const std::shared_ptr<impl> self = impl_;
  http::call what = token_review(bearer, audiences);
  const auto read = [audiences](const http::answer& a) { return token_answer_of(a, audiences); };
  co_return co_await self->ask(self->tokens, std::move(what), read, until);
}

task<result<access_answer>> reviewer::access(access_question question, deadline until) {
  const std::shared_ptr<impl> self = impl_;
  http::call what = access_review(question);
  const auto read = [](const http::answer& a) { return access_answer_of(a); };
  co_return co_await self->ask(self->rights, std::move(what), read, until);
}

const reviewer::counters& reviewer::stats() const noexcept { return impl_->numbers; }

}  // namespace binnacle::kube
