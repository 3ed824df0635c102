#include "agent/sources/bmc/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::agent {
namespace {

// If a deadline is noticed this late, we did not run ourselves (a suspend, a stopped process) and could not
// have heard the helper, so the helper is not blamed.
constexpr duration own_lateness = std::chrono::seconds(2);

}  // namespace

supervisor::supervisor(const settings& s, std::uint64_t seed)
    : settings_(s), random_(seed), pause_(s.pause) {}

void supervisor::allow(instant now) {
  if (state_ != state::idle) return;
  state_ = state::waiting;
  start_at_ = now;
  trouble_ = error{errc::not_found, "the BMC has not been asked yet"};
}

supervisor::action supervisor::next(instant now) {
  excuse_lateness(now);
  if (state_ == state::talking) {
    if (now >= pong_by_)
      hung("did not answer");
    else if (now >= reading_by_)
      hung("gave no reading");
  } else if ((state_ == state::starting || state_ == state::greeting) && now >= hello_by_) {
    hung("did not say hello");
  }
  if (std::exchange(end_wanted_, false)) return action::end;
  if (state_ == state::waiting && now >= start_at_) {
    state_ = state::starting;
    start_at_ = instant::max();
    hello_by_ = now + settings_.hello_within;
    return action::start;
  }
  if (state_ == state::talking && now >= ping_at_) {
    ping_at_ = now + settings_.ping_every;
    if (pong_by_ != instant::max()) return action::none;  // the last ping is still unanswered
    pong_by_ = now + answer_within_;
    ++ping_;
    return action::ping;
  }
  return action::none;
}

instant supervisor::deadline() const noexcept {
  switch (state_) {
    case state::idle:
    case state::ending: return end_wanted_ ? instant{} : instant::max();
    case state::waiting: return start_at_;
    case state::starting:
    case state::greeting: return hello_by_;
    case state::talking: return std::min({ping_at_, pong_by_, reading_by_});
  }
  return instant::max();
}

void supervisor::excuse_lateness(instant now) {
  const auto due = deadline();
  if (due == instant{} || due == instant::max() || now - due <= own_lateness) return;
  if (hello_by_ != instant::max()) hello_by_ = now + settings_.hello_within;
  if (pong_by_ != instant::max()) pong_by_ = now + answer_within_;
  if (reading_by_ != instant::max()) expect_reading(now);
}

void supervisor::started(instant now) {
  if (state_ != state::starting) return;
  ++counts_.starts;
  state_ = state::greeting;
  hello_by_ = now + settings_.hello_within;
}

void supervisor::not_started(error why, instant now) {
  if (state_ != state::starting) return;
  ++counts_.failures;
  trouble_ = std::move(why);
  wait(now);
}

void supervisor::hello(duration quiet, instant now) {
  if (state_ != state::greeting) return;
  state_ = state::talking;
  since_ = now;
  hello_by_ = pong_by_ = reading_by_ = instant::max();
  answer_within_ = quiet + settings_.answer_least;
  ping_at_ = now + settings_.ping_every;
  shortest_.reset();
  well_ = false;
}

void supervisor::pong(std::uint64_t number) {
  if (state_ == state::talking && number == ping_) pong_by_ = instant::max();
}

void supervisor::planned(std::optional<duration> shortest, instant now) {
  if (state_ != state::talking) return;
  shortest_ = shortest;
  expect_reading(now);
}

void supervisor::reading(instant now) {
  if (state_ == state::talking) expect_reading(now);
}

void supervisor::expect_reading(instant now) {
  reading_by_ = shortest_ && well_ ? now + std::max(settings_.silent_least,
                                                    *shortest_ * settings_.silent_periods + answer_within_)
                                   : instant::max();
}

void supervisor::status(bool ok, bool permanent, std::string message, instant now) {
  if (state_ != state::talking) return;
  well_ = ok;
  expect_reading(now);
  if (ok) {
    held_ = false;
    trouble_.reset();
    return;
  }
  if (permanent && !held_) ++counts_.refused;
  held_ = permanent;
  trouble_ = error{permanent ? errc::permission : errc::io, std::move(message)};
}

void supervisor::hung(std::string_view what) {
  end({errc::timeout, fmt::format("the helper binnacle-ipmi {} in time and was ended: the BMC or its driver "
                                  "hangs; the agent starts the helper again by itself",
                                  what)},
      counts_.hung);
}

void supervisor::serves_another(std::string message) {
  if (state_ == state::greeting) end({errc::overloaded, std::move(message)}, counts_.failures);
}

void supervisor::broke(const error& why) {
  if (state_ != state::greeting && state_ != state::talking) return;
  end({errc::protocol, fmt::format("the helper binnacle-ipmi broke the protocol: {}: are agent and helper of "
                                   "one version?",
                                   why.message)},
      counts_.broke);
}

void supervisor::end(error why, std::uint64_t& counter) {
  ++counter;
  // While a start is held back after a refusal, people need to see that refusal, so it stays the reason.
  if (!held_) trouble_ = std::move(why);
  state_ = state::ending;
  end_wanted_ = true;
}

void supervisor::gone(std::string_view how, instant now) {
  if (state_ == state::idle || state_ == state::waiting || state_ == state::starting) return;
  if (state_ != state::ending) {
    ++counts_.ended;
    if (!held_) {
      const auto sentence = settings_.child ? "the helper binnacle-ipmi ended by itself ({}): it is started "
                                              "again"
                                            : "the helper binnacle-ipmi closed the connection{}: it is "
                                              "dialled again";
      trouble_ = error{errc::disconnected, fmt::format(fmt::runtime(sentence), how)};
    }
  }
  if (since_ != instant{} && now - since_ >= settings_.steady) pause_.reset();
  wait(now);
}

void supervisor::wait(instant now) {
  state_ = state::waiting;
  end_wanted_ = false;
  since_ = {};
  hello_by_ = ping_at_ = pong_by_ = reading_by_ = instant::max();
  start_at_ = held_ && settings_.child ? instant::max() : now + pause_.next(random_);
}

void supervisor::credentials_changed(instant now) {
  if (!held_ || state_ != state::waiting) return;
  held_ = false;
  start_at_ = now;
}

}  // namespace binnacle::agent
