#include "agent/uplink/uplink.hpp"

#include "agent/uplink/uplink_link.hpp"
#include "common/async/resolve.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace binnacle::agent {

result<endpoint> parse_endpoint(std::string_view text) {
  if (auto at = read_endpoint(text, 9110)) return *std::move(at);
  return error{
      errc::invalid_input,
      "aggregator \"" + std::string(text) +
          "\" is not an address: use HOST:PORT, HOST, or [IPv6]:PORT, for example aggregator.binnacle:9110"};
}

namespace {

// How often names are looked up. A new replica should be dialled soon after its address is known. But while
// nothing changes, thousands of agents together must cost a name server little.
constexpr duration look_up_often = std::chrono::milliseconds(1250);
constexpr duration look_up_rarely = std::chrono::seconds(10);
constexpr duration changes_last = std::chrono::minutes(1);

}  // namespace

struct uplink::impl {
  std::shared_ptr<uplink_core> core;
  static async::task<void> finish(std::shared_ptr<uplink_core> core, std::chrono::milliseconds grace,
                                  std::function<void()> done);
};

uplink::uplink(boost::asio::io_context& loop, uplink_options options, const board& from, logger log)
    : impl_(std::make_shared<impl>()) {
  impl_->core = std::make_shared<uplink_core>(loop, std::move(options), from, std::move(log));
}

uplink::~uplink() {
  impl_->core->look_ups.cancel();
  impl_->core->tasks.cancel();
  impl_->core->links.clear();  // the links own the core, too
}

void uplink_core::plan_changed() {
  changed_at = boot_clock::now();
  names_due.notify();
  for (const auto& link : links) link->wake();
  while (!stopping && links.size() < plan.slots()) {
    links.push_back(std::make_shared<uplink_link>(shared_from_this(), links.size()));
    tasks.keep("uplink", [link = links.back()] { return uplink_link::run(link); });
  }
}

async::task<void> uplink_core::follow_names(std::shared_ptr<uplink_core> core) {
  while (!core->stopping) {
    bool is_news = false;
    for (std::size_t name = 0; name < core->options.aggregators.size(); ++name) {
      const endpoint& to = core->options.aggregators[name];
      const auto found =
          co_await async::resolve(to.host, to.port, async::within(core->options.connect_deadline));
      if (found.has_error()) continue;  // the link that dials the name reports the error
      std::vector<std::string> addresses;
      for (const auto& one : *found) addresses.push_back(async::to_string(one));
      if (core->plan.resolved(name, std::move(addresses))) is_news = true;
    }
    if (is_news && !core->stopping) core->plan_changed();
    const instant looked_at = boot_clock::now();
    const double spread = std::uniform_real_distribution<>(0.8, 1.2)(core->random);
    while (!core->stopping) {
      const instant now = boot_clock::now();
      const duration pause = now - core->changed_at < changes_last ? look_up_often : look_up_rarely;
      const instant next = looked_at + std::chrono::duration_cast<duration>(pause * spread);
      if (next <= now) break;
      co_await core->names_due.wait(async::within(next - now));
    }
  }
}

void uplink::start() {
  const auto& core = impl_->core;
  core->announce_by = boot_clock::now() + core->options.announce_patience;
  core->meet_by = boot_clock::now() + core->options.meeting_patience;
  if (core->options.aggregators.empty()) return;
  core->plan_changed();
  core->look_ups.keep("names of aggregators", [core] { return uplink_core::follow_names(core); });
}

void uplink::changed() {
  for (const auto& link : impl_->core->links) link->wake();
}

uplink_report uplink::report() const {
  uplink_report out;
  out.reconnects = impl_->core->reconnects;
  out.left_out = impl_->core->left_out;
  out.conflated = impl_->core->conflated;
  out.budget = impl_->core->pace.budget().limit();
  out.watched_wait = 1 << impl_->core->pace.doublings(true);
  out.others_wait = 1 << impl_->core->pace.doublings(false);
  for (std::size_t slot = 0; slot < impl_->core->links.size(); ++slot) {
    const auto& link = impl_->core->links[slot];
    out.conflated += link->conflated();
    // A slot that rests is not shown as missing: its replica has another link, or is gone for good.
    if (!link->connected() && !impl_->core->plan.may_dial(slot)) continue;
    // Several links may have met the same replica, one after another. They share one line of the report.
    auto at = std::ranges::find(out.links, link->leads_to(), &link_report::aggregator);
    if (at == out.links.end()) {
      const auto sent = impl_->core->sent.find(link->leads_to());
      const auto counts = sent == impl_->core->sent.end() ? uplink_core::counts{} : sent->second;
      link_report fresh{link->leads_to(), false, counts.batches, counts.bytes};
      at = out.links.insert(at, std::move(fresh));
    }
    at->connected = at->connected || link->connected();
  }
  return out;
}

async::task<void> uplink::impl::finish(std::shared_ptr<uplink_core> core, std::chrono::milliseconds grace,
                                       std::function<void()> done) {
  core->stopping = true;
  core->look_ups.cancel();
  for (const auto& link : core->links) link->wake();
  const bool all_gone = co_await core->tasks.wait(async::within(grace));
  if (!all_gone) {
    core->tasks.cancel();
    co_await core->tasks.wait(async::within(std::chrono::seconds(1)));
  }
  core->links.clear();
  done();
}

void uplink::stop(std::chrono::milliseconds grace, std::function<void()> done) {
  boost::asio::co_spawn(impl_->core->loop, impl::finish(impl_->core, grace, std::move(done)),
                        boost::asio::detached);
}

}  // namespace binnacle::agent
