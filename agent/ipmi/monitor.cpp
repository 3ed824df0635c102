#include "agent/ipmi/monitor.hpp"

#include "agent/ipmi/end_signal.hpp"
#include "agent/ipmi/sensor_choice.hpp"
#include "agent/process/startup_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::ipmi {
namespace {

using std::chrono::seconds;

constexpr auto longest_retry = seconds(60);
// A BMC that is starting offers a level, suite or version a little later. If it is not set up for it,
// somebody has to do that first.
constexpr auto longest_unsupported = seconds(300);
// If a BMC goes silent when the password is sent, it may have counted a failed login. So wait for long.
constexpr auto doubtful_retry = std::chrono::minutes(10);
constexpr auto look_for_credentials = seconds(2);
constexpr auto stats_period = seconds(10);
constexpr int busy_patience = 3;
// If a BMC is busy at so many openings in a row (15 s by default), it is taken as it is: what it did not say
// counts as not there.
constexpr int busy_openings = 4;
// Plans are sent at least this far apart, since while latencies change, every reading changes every period.
constexpr auto least_between_plans = seconds(1);

std::vector<sensor> abouts(const std::vector<known_sensor>& all) {
  std::vector<sensor> some;
  some.reserve(all.size());
  for (const auto& s : all) some.push_back(s.about);
  return some;
}

}  // namespace

monitor::monitor(const settings& s, link_options link, std::vector<role_rule> roles, logger log)
    : settings_(s),
      options_(std::move(link)),
      roles_(std::move(roles)),
      log_(std::move(log)),
      cache_(s.cache_folder, s.host.empty() ? s.device : s.host),
      retries_(s.retry) {}

result<credentials> monitor::load() const {
  if (settings_.host.empty()) return credentials{};
  return load_credentials(settings_.credentials_file);
}

result<const inventory*> monitor::find() {
  auto who = load();
  if (!who) return who.error();
  who_ = *std::move(who);
  // Close the old session before opening a new one: a BMC has few.
  reader_.reset();
  link_.reset();
  auto link = bmc_link::open(options_, who_);
  if (!link) return link.error();
  ++counts_.sessions;
  link_ = *std::move(link);
  // Each step may take long on a slow BMC. Answer pings in between.
  hear();
  const bool patient = busy_openings_ < busy_openings;
  const auto unfinished = [this](error why) {
    if (why.code == errc::io) ++busy_openings_;
    return why;
  };
  auto identity = link_->identify(patient);
  if (!identity) return unfinished(identity.error());
  hear();
  auto sensors = cache_.sensors(*link_, *identity, [this](unsigned record, unsigned records) {
    if (record == 1) log_.info("reading the descriptions of {} sensors, once", records);
    hear();
  });
  if (!sensors) return sensors.error();
  counts_.sdr_rebuilds = cache_.rebuilds();
  identity->sdr_records = cache_.records();
  reader_ = std::make_unique<sensor_reader>(*link_, *identity);
  auto extras = reader_->extras(patient, [this] { hear(); });
  if (!extras) return unfinished(extras.error());
  busy_openings_ = 0;
  found_ = {*std::move(identity), *std::move(sensors)};
  const auto room = max_sensors - extras->size();
  if (found_.sensors.size() > room) {
    log_.warning("{} of the BMC's {} sensors are left out: {} are taken at most",
                 found_.sensors.size() - room, found_.sensors.size(), room);
    found_.sensors.resize(room);
  }
  for (auto& e : *extras) found_.sensors.push_back(std::move(e));
  auto rules = roles_;
  if (selected_) rules.insert(rules.begin(), selected_->roles.begin(), selected_->roles.end());
  by_key_.clear();
  std::vector<known_sensor> distinct;
  for (auto& s : found_.sensors) {
    // If a board lists a sensor twice, keep one.
    if (!by_key_.emplace(s.about.key, nullptr).second) continue;
    s.about.role = role_of(s.about, rules);
    distinct.push_back(std::move(s));
  }
  found_.sensors = std::move(distinct);
  for (const auto& s : found_.sensors) by_key_[s.about.key] = &s;
  return &found_;
}

monitor::attempt monitor::read(const known_sensor& s) {
  const auto started = boot_clock::now();
  auto o = reader_->read(s);
  if (o.how == trouble::timed_out) {
    hear();  // this took long, and the next command may, too
    if (!link_->answers()) o.how = trouble::lost;
  }
  const auto ended = boot_clock::now();
  ++counts_.requests;
  // A sensor for which the BMC has no time must not spend the time of the others.
  if (o.how == trouble::lost || o.how == trouble::timed_out) {
    schedule_.unanswered(s.about.key, ended);
  } else {
    schedule_.done(s.about.key, started, ended, o.got.reason == absence::none || o.how == trouble::busy);
  }
  o.got.key = s.about.key;
  o.got.read_at_ns = to_ns(ended);
  o.got.took_us = static_cast<std::uint32_t>(
      std::min<std::int64_t>((ended - started) / std::chrono::microseconds(1), 0xffffffff));
  if (o.got.reason != absence::none) ++counts_.failures;
  if (o.got.reason == absence::timeout) ++counts_.timeouts;
  // A busy BMC, or one that ran out of time, does not mean that the sensor has no value. So the last value
  // ages, and an absence is reported only after several such answers in a row.
  auto& busy = busy_[s.about.key];
  busy = o.how == trouble::busy || o.how == trouble::timed_out ? busy + 1 : 0;
  const bool say_it = busy == 0 || busy >= busy_patience;
  return {o.how == trouble::lost, say_it ? std::optional(std::move(o.got)) : std::nullopt};
}

void monitor::serve(peer& agent) {
  agent_ = &agent;
  said_ = {false, "the BMC has not been asked yet", false};
  while (!agent.gone() && !asked_to_end()) {
    const auto now = boot_clock::now();
    take_what_came();
    work(now);
    agent.wait(std::min(next_work(boot_clock::now()), boot_clock::now() + stats_period));
    if (!agent.connected()) part();
  }
  agent_ = nullptr;
}

void monitor::hear() {
  if (agent_ == nullptr) return;
  agent_->wait(instant{});  // take only what is there already
  take_what_came();
}

void monitor::take_what_came() {
  watchdog_.alive(boot_clock::now());
  if (agent_->arrived()) greet();
  while (const auto message = agent_->next()) take(*message);
}

// Forgets what the agent that left had wanted. The next agent may want something else.
void monitor::part() {
  if (!std::exchange(talking_, false)) return;
  const auto& why = agent_->ended_because();
  log_.info("the agent has gone{}{}", why.empty() ? "" : ": ", why);
  selected_.reset();
  waited_for_ = {};
  schedule_.set({}, wanted_sensors{}.budget_ratio, boot_clock::now());
  planned_.clear();
}

void monitor::greet() {
  part();
  talking_ = true;
  agent_->send(hello{protocol_version, BINNACLE_VERSION,
                     static_cast<std::uint32_t>(settings_.quiet() / std::chrono::milliseconds(1))});
  agent_->send(said_);
  if (said_.ok) tell_inventory();
}

void monitor::take(const from_agent& message) {
  if (const auto* p = std::get_if<ping>(&message)) {
    agent_->send(pong{p->number});
  } else if (const auto* wanted = std::get_if<interest>(&message)) {
    waited_for_ = *wanted;
    replan(boot_clock::now());
  } else if (const auto* chosen = std::get_if<wanted_sensors>(&message)) {
    selected_ = *chosen;
    auto rules = selected_->roles;
    rules.insert(rules.end(), roles_.begin(), roles_.end());
    bool changed = false;
    for (auto& s : found_.sensors) {
      const auto role = role_of(s.about, rules);
      changed = changed || role != s.about.role;
      s.about.role = role;
    }
    if (changed && said_.ok) tell_inventory();
    replan(boot_clock::now());
  }
}

void monitor::replan(instant now) {
  if (!selected_) return;
  const auto inventory = abouts(found_.sensors);
  schedule_.set(choose(inventory, *selected_, waited_for_), selected_->budget_ratio, now);
  if (said_.ok) tell_plan();
}

void monitor::tell_plan() {
  planned_ = schedule_.periods_ms();
  planned_at_ = boot_clock::now();
  agent_->send(plan{planned_});
}

void monitor::tell_inventory() {
  agent_->send_soon(found_.who);
  for (const auto& s : found_.sensors) agent_->send_soon(s.about);
  agent_->send(inventory_end{static_cast<std::uint32_t>(found_.sensors.size())});
}

void monitor::tell_status(bool ok, std::string message, bool permanent) {
  const bool same = said_.ok == ok && said_.message == message && said_.permanent == permanent;
  said_ = {ok, std::move(message), permanent};
  if (same) return;
  if (!ok) log_.warning("{}", said_.message);
  if (agent_ != nullptr) agent_->send(said_);
}

instant monitor::next_work(instant now) const {
  if (!link_) return retry_at_;
  auto next = std::min(repository_at_, stats_at_);
  if (selected_ && agent_->connected()) {
    if (const auto turn = schedule_.next()) next = std::min(next, turn->at);
  }
  return std::max(next, now);
}

void monitor::work(instant now) {
  if (now >= stats_at_) tell_stats(now);
  if (!link_) {
    if (now >= retry_at_) try_open(now);
    return;
  }
  if (now >= repository_at_) return check_repository(now);
  if (!selected_ || !agent_->connected()) return;
  const auto turn = schedule_.next();
  if (turn && turn->at <= now) read_next(turn->key);
}

void monitor::try_open(instant now) {
  if (refused_) {
    const auto again = load();
    if (!again || *again == *refused_) {
      retry_at_ = now + look_for_credentials;
      return;
    }
    refused_.reset();
  }
  const auto found = find();
  now = boot_clock::now();
  if (!found) return close(found.error(), now);
  retries_.reset();
  repository_at_ = now + settings_.repository_period;
  log_.info("{}: {} {}, firmware {}, {} sensors{}", found_.who.address,
            found_.who.manufacturer.empty() ? "unknown maker" : found_.who.manufacturer,
            found_.who.product_id, found_.who.firmware, found_.sensors.size(),
            found_.who.dcmi ? ", DCMI" : "");
  tell_inventory();
  tell_status(true, {}, false);
  replan(now);
  agent::give_back_startup_memory();
}

void monitor::close(error why, instant now) {
  reader_.reset();
  link_.reset();
  const bool permanent = why.code == errc::permission && !settings_.host.empty();
  // Remember only credentials that the BMC refused. A file that cannot be read is looked at again and again
  // anyway.
  if (permanent && load()) refused_ = who_;
  if (permanent) {
    retry_at_ = now + look_for_credentials;
  } else {
    const auto longest = why.code == errc::unsupported ? longest_unsupported : longest_retry;
    const auto pause = retries_.next(longest);
    retry_at_ = now + (why.code == errc::overloaded ? duration(doubtful_retry) : pause);
  }
  tell_status(false, std::move(why.message), permanent);
}

void monitor::read_next(const std::string& key) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return schedule_.done(key, boot_clock::now(), boot_clock::now(), false);
  const auto tried = read(*known->second);
  if (tried.got) {
    if (waited_for_.period_ms.contains(key)) {
      agent_->send(*tried.got);
    } else {
      agent_->send_soon(*tried.got);
    }
  }
  if (tried.lost) {
    return close({errc::timeout, fmt::format("{} stopped answering: {}; the link is opened again",
                                             found_.who.address, link_->last_message())},
                 boot_clock::now());
  }
  // If the BMC does not know the sensor any more, its repository may have changed.
  if (tried.got && tried.got->reason == absence::missing) {
    repository_at_ = std::min(repository_at_, boot_clock::now() + seconds(1));
  }
  const auto now = boot_clock::now();
  if (now - planned_at_ >= least_between_plans && schedule_.differs_from(planned_)) tell_plan();
}

void monitor::check_repository(instant now) {
  repository_at_ = now + settings_.repository_period;
  const auto current = cache_.current(*link_);
  const auto ended = boot_clock::now();
  schedule_.spent(now, ended);
  ++counts_.requests;
  if (current && *current) return;
  if (!current) return close(current.error(), ended);
  log_.info("the BMC's sensors have changed: reading their descriptions again");
  try_open(ended);
}

void monitor::tell_stats(instant now) {
  stats_at_ = now + stats_period;
  counts_.busy_ratio = schedule_.busy_ratio(now);
  if (agent_ != nullptr) agent_->send(counts_);
}

}  // namespace binnacle::ipmi
