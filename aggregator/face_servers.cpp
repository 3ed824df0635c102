#include "aggregator/face_servers.hpp"

#include "common/text/text.hpp"

#include <utility>

namespace binnacle::aggregator {

face_servers::face_servers(async::loop& on, std::string address, logger log)
    : loop_(on), address_(std::move(address)), log_(std::move(log)) {}
face_servers::~face_servers() = default;

result<void> face_servers::open(std::string name, std::int64_t port, std::size_t most,
                                std::shared_ptr<tls::context> tls, http::router routes) {
  http::server_options o;
  o.name = name;
  o.address = address_;
  o.port = static_cast<std::uint16_t>(port);
  o.max_connections = most;
  const bool has_tls = tls != nullptr;
  o.tls = std::move(tls);
  auto server = std::make_unique<http::server>(loop_, std::move(o), std::move(routes), log_.part(name));
  if (auto started = server->start(); started.has_error()) return started;
  log_.info("{} listens on {}", name, host_and_port(address_, server->port()));
  all_.push_back({std::move(name), has_tls, std::move(server)});
  return {};
}

std::vector<ops::listener_report> face_servers::listeners() const {
  std::vector<ops::listener_report> out;
  for (const open_server& s : all_)
    out.push_back({s.name, host_and_port(address_, s.server->port()), s.server->counters(), s.has_tls});
  return out;
}

void face_servers::retire() {
  for (const open_server& s : all_) s.server->retire();
}

void face_servers::stop(std::chrono::milliseconds grace, const std::function<void()>& done) {
  still_open_ = all_.size() - 1;
  for (std::size_t i = 0; i + 1 < all_.size(); ++i) {
    all_[i].server->stop(grace, [this, done] {
      if (--still_open_ == 0) all_.back().server->stop(std::chrono::milliseconds(0), done);
    });
  }
}

}  // namespace binnacle::aggregator
