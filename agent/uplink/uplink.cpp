#include "agent/uplink/uplink.hpp"

#include "agent/uplink/uplink_link.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace binnacle::agent {

result<endpoint> parse_endpoint(std::string_view text) {
  if (auto at = read_endpoint(text, 9110)) return *std::move(at);
  return error{
      errc::invalid_input,
      "aggregator \"" + std::string(text) +
          "\" is not an address: use HOST:PORT, HOST, or [IPv6]:PORT, for example aggregator.binnacle:9110"};
}

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
  impl_->core->tasks.cancel();
  impl_->core->links.clear();  // they own the core
}

void uplink_core::plan_changed() {
  for (const auto& link : links) link->wake();
  while (!stopping && links.size() < plan.slots()) {
    links.push_back(std::make_shared<uplink_link>(shared_from_this(), links.size()));
    tasks.keep("uplink", [link = links.back()] { return uplink_link::run(link); });
  }
}

void uplink::start() {
  impl_->core->announce_by = boot_clock::now() + impl_->core->options.announce_patience;
  if (!impl_->core->options.aggregators.empty()) impl_->core->plan_changed();
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
  for (const auto& link : impl_->core->links) {
    out.conflated += link->conflated();
    // Several links may have met one replica, one after another.
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
