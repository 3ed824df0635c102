#include "agent/uplink.hpp"

#include "agent/uplink_link.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <charconv>

namespace binnacle::agent {

result<endpoint> parse_endpoint(std::string_view text) {
  const error wrong{
      errc::invalid_input,
      "aggregator \"" + std::string(text) +
          "\" is no address: use HOST:PORT, HOST, or [IPv6]:PORT, for example aggregator.binnacle:9110"};
  endpoint out;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return wrong;
    out.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return wrong;
  } else {
    const auto colon = text.rfind(':');
    // More than one colon without brackets is an IPv6 address without a port.
    const bool has_port = colon != std::string_view::npos && text.find(':') == colon;
    out.host = has_port ? text.substr(0, colon) : text;
    port = has_port ? text.substr(colon) : std::string_view();
  }
  if (out.host.empty()) return wrong;
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (failed != std::errc{} || end != port.data() + port.size() || out.port == 0) return wrong;
  }
  return out;
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
    tasks.spawn("uplink", uplink_link::run(links.back()));
  }
}

void uplink::start() {
  if (!impl_->core->options.aggregators.empty()) impl_->core->plan_changed();
}

void uplink::changed() {
  for (const auto& link : impl_->core->links) link->wake();
}

uplink_report uplink::report() const {
  uplink_report out;
  out.reconnects = impl_->core->reconnects;
  out.conflated = impl_->core->conflated;
  for (const auto& link : impl_->core->links) {
    out.links.push_back(link->report());
    out.conflated += link->conflated();
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
