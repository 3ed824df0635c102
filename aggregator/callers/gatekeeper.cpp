#include "aggregator/callers/gatekeeper.hpp"

#include "aggregator/callers/attributes.hpp"
#include "aggregator/callers/claim.hpp"
#include "aggregator/callers/question_slots.hpp"
#include "aggregator/kube/objects/follow.hpp"
#include "aggregator/kube/reviews/reviewer.hpp"
#include "common/async/task_group.hpp"
#include "common/log/said_once.hpp"
#include "common/token_ration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace binnacle::callers {

using async::task;

namespace {

/// What a caller is told whose request is refused.
struct no {
  unsigned status;
  std::string_view reason;
  std::string sentence;
};

/// How many of the running questions may be about tokens. The other places are for the rights of known
/// callers.
constexpr std::size_t most_about_tokens = kube::reviewer::most_at_once / 2;

bool is_master(const kube::user& who) {
  return std::ranges::find(who.groups, "system:masters") != who.groups.end();
}

}  // namespace

struct gatekeeper::impl : std::enable_shared_from_this<gatekeeper::impl> {
  impl(async::loop& on, std::shared_ptr<kube::client> a, logger l, std::chrono::nanoseconds p)
      : log(std::move(l)),
        api(std::move(a)),
        patience(p),
        follower(layer_object::collection(), trusted, std::random_device{}()),
        reviews(api),
        running(on, log) {}

  struct case_file {
    claim from;
    kube::access_question wanted;
    bool discovery = false;
    network address = {};
  };
  /// What a question about a token needs: one unit of the ration of the caller's address, and a place until
  /// the answer comes.
  struct turn_to_ask {
    turn_to_ask(impl& o, const network& a) : of(o), address(a), granted(of.about_tokens.take(address)) {
      if (!granted || of.ration.take(address, boot_clock::now())) return;
      of.about_tokens.give_back(address);
      granted = false;
    }
    ~turn_to_ask() {
      if (granted) of.about_tokens.give_back(address);
    }
    turn_to_ask(const turn_to_ask&) = delete;
    turn_to_ask& operator=(const turn_to_ask&) = delete;
    impl& of;
    const network address;
    bool granted;
  };
  static task<void> follow_layer(std::shared_ptr<impl> self);
  static task<void> decide(std::shared_ptr<impl> self, case_file file, refuse how, http::guard_answer then);
  task<std::optional<no>> identify(case_file& file, async::deadline until);
  task<std::optional<no>> refusal_of(case_file& file);
  void look_at_layer();
  void let_in(std::string caller, const http::guard_answer& then);
  void turn_away(const no& refused, const refuse& how, const http::guard_answer& then);

  const logger log;
  const std::shared_ptr<kube::client> api;
  const std::chrono::nanoseconds patience;
  layer_object trusted;
  kube::reflector follower;
  kube::reviewer reviews;
  token_ration ration;
  question_slots about_tokens{most_about_tokens};
  gatekeeper_counters numbers;
  said_once told;
  async::task_group running;  // last: it ends before what its tasks use
};

void gatekeeper::impl::look_at_layer() {
  const std::string& now = trusted.trouble().empty() ? follower.trouble() : trusted.trouble();
  if (!told.is_news(now)) return;
  if (now.empty()) {
    log.info("the authorities that the API server trusts are up to date");
  } else {
    log.warning("{}", now);
  }
}

task<void> gatekeeper::impl::follow_layer(std::shared_ptr<impl> self) {
  std::function<void()> after = [it = self.get()] { it->look_at_layer(); };
  co_await kube::follow(self->api, self->follower, std::move(after));
}

/// Puts the token's holder into `file`, or returns the refusal. Anybody can invent tokens, and each unknown
/// token costs a question to the API server. So each address has a ration of bad tokens, and a share of the
/// places.
task<std::optional<no>> gatekeeper::impl::identify(case_file& file, async::deadline until) {
  std::vector<std::string> for_the_api_server;
  std::optional<kube::token_answer> holder = reviews.remembered(file.from.token, for_the_api_server);
  if (!holder) {
    const turn_to_ask turn(*this, file.address);
    if (!turn.granted)
      co_return no{429, "TooManyRequests",
                   "too many tokens from this address were refused or are still being checked: try again "
                   "later"};
    auto said = co_await reviews.token(std::move(file.from.token), std::move(for_the_api_server), until);
    if (said.has_error() || said->authenticated) ration.give_back(file.address);
    if (said.has_error())
      co_return no{503, "ServiceUnavailable",
                   "the API server could not be asked whose token this is: " + said.error().message};
    holder = *std::move(said);
  }
  if (!holder->authenticated)
    co_return no{401, "Unauthorized",
                 "Unauthorized: the API server does not know this token" +
                     (holder->why.empty() ? std::string() : " (" + holder->why + ")")};
  file.from.who = std::move(holder->who);
  co_return std::nullopt;
}

/// Returns the refusal, or nothing if the request may go on. It also puts the user into `file`.
task<std::optional<no>> gatekeeper::impl::refusal_of(case_file& file) {
  const async::deadline until = async::within(patience);
  if (file.from.how == claim::kind::token) {
    auto unknown = co_await identify(file, until);
    if (unknown) co_return unknown;
  }
  if (file.discovery || is_master(file.from.who)) co_return std::nullopt;
  file.wanted.who = file.from.who;
  auto right = co_await reviews.access(file.wanted, until);
  if (right.has_error())
    co_return no{503, "ServiceUnavailable",
                 "the API server could not be asked whether you may do this: " + right.error().message};
  if (right->allowed) co_return std::nullopt;
  co_return no{403, "Forbidden", forbidden(file.wanted)};
}

void gatekeeper::impl::let_in(std::string caller, const http::guard_answer& then) {
  ++numbers.let_in;
  then({std::nullopt, std::move(caller)});
}

void gatekeeper::impl::turn_away(const no& refused, const refuse& how, const http::guard_answer& then) {
  ++(refused.status == 401   ? numbers.unauthorized
     : refused.status == 403 ? numbers.forbidden
     : refused.status == 429 ? numbers.rationed
                             : numbers.unavailable);
  http::response said = how(refused.status, refused.reason, refused.sentence);
  if (refused.status == 503 || refused.status == 429) said.headers.emplace_back("Retry-After", "1");
  then({std::move(said)});
}

task<void> gatekeeper::impl::decide(std::shared_ptr<impl> self, case_file file, refuse how,
                                    http::guard_answer then) {
  const std::optional<no> refused = co_await self->refusal_of(file);
  if (refused) {
    self->turn_away(*refused, how, then);
  } else {
    self->let_in(std::move(file.from.who.name), then);
  }
}

gatekeeper::gatekeeper(async::loop& on, std::shared_ptr<kube::client> api, logger log,
                       std::chrono::nanoseconds patience)
    : impl_(std::make_shared<impl>(on, std::move(api), std::move(log), patience)) {}

gatekeeper::~gatekeeper() { cancel(); }

void gatekeeper::start() {
  impl_->running.keep("whom the API server trusts", [self = impl_] { return impl::follow_layer(self); });
}

void gatekeeper::cancel() { impl_->running.cancel(); }

http::guard gatekeeper::guard(attributes wanted, refuse how) {
  return [self = impl_.get(), wanted = std::move(wanted), how = std::move(how)](const http::request& r,
                                                                                http::guard_answer then) {
    if (open_to_all(r)) return then({});
    impl::case_file file{who_asks(r, self->trusted.current()), wanted(r), open_to_known(r), r.from};
    if (file.from.how == claim::kind::nobody) {
      const no refused{401, "Unauthorized", "Unauthorized: " + file.from.why};
      return self->turn_away(refused, how, then);
    }
    if (file.from.how == claim::kind::ours) return self->let_in({}, then);
    self->running.spawn("review",
                        impl::decide(self->shared_from_this(), std::move(file), how, std::move(then)));
  };
}

bool gatekeeper::informed() const noexcept { return impl_->trusted.current() != nullptr; }
std::string gatekeeper::trouble() const { return impl_->told.text(); }

gatekeeper_counters gatekeeper::counted() const noexcept {
  gatekeeper_counters out = impl_->numbers;
  out.asked = impl_->reviews.stats().asked;
  out.remembered = impl_->reviews.stats().remembered;
  return out;
}

}  // namespace binnacle::callers
