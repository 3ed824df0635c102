// binnacle-aggregator: the wiring diagram. Two loops, one thread each: the ingest loop writes, the faces loop
// reads.

#include "aggregator/faces_loop.hpp"
#include "aggregator/ingest_loop.hpp"
#include "aggregator/policy/text/alias_file.hpp"
#include "aggregator/settings/config.hpp"
#include "aggregator/settings/descriptor_plan.hpp"
#include "common/config/config.hpp"
#include "common/log/log.hpp"
#include "common/system/descriptor_limit.hpp"
#include "common/system/host_name.hpp"
#include "common/text/text.hpp"
#include "common/tls/own_certificate.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <signal.h>
#include <string>
#include <thread>
#include <utility>

namespace binnacle::aggregator {
namespace {

int run(const settings& s, policy::alias_file names, const logger& log) {
  const std::size_t limit = raise_descriptor_limit();
  const descriptor_plan room = plan_descriptors(limit, static_cast<std::size_t>(s.max_nodes));
  if (room.is_tight) {
    log.info(
        "only {} files may be open here: {} agents, and {} connections at each face, at most; for more raise "
        "the "
        "limit of open files (LimitNOFILE of the unit, or the container runtime's)",
        limit, room.agents, std::min({room.extender, room.metrics, room.ops, room.health}));
  }
  faces_loop faces(s, room, names.table(), log);
  ingest_loop ingest(s, room, std::move(names), faces.inbox(), log.part("ingest"));
  if (auto started = ingest.start(); started.has_error()) {
    log.error("{}", started.error().message);
    return 1;
  }
  if (auto started = faces.start(ingest); started.has_error()) {
    log.error("{}", started.error().message);
    return 1;
  }
  log.info("replica {} takes agents on {}, policies from {}", s.replica_id,
           host_and_port(s.address, ingest.port()),
           s.mode() == deployment_mode::standalone ? "folder " + s.policies
                                                   : "the API server (" + s.kube_config + ")");

  std::thread writer([&ingest] { ingest.run(); });
  faces.run([&ingest, &s] { ingest.stop(std::chrono::duration_cast<std::chrono::milliseconds>(s.drain)); });
  writer.join();
  log.info("stopped");
  return 0;
}

}  // namespace
}  // namespace binnacle::aggregator

int main(int argc, char** argv) {
  using namespace binnacle;
  signal(SIGPIPE, SIG_IGN);
  aggregator::settings s;
  config_spec spec = aggregator::bind(s);
  try {
    const auto parsed = spec.parse(argc, argv, std::cout);
    if (parsed.has_error()) {
      std::fprintf(stderr, "binnacle-aggregator: %s\n", parsed.error().message.c_str());
      return 2;
    }
    if (parsed->exit) return 0;
    if (s.replica_id.empty()) s.replica_id = host_name();
    if (s.replica_id.empty()) s.replica_id = "aggregator";
    if (const auto valid = aggregator::validate(s); valid.has_error()) {
      std::fprintf(stderr, "binnacle-aggregator: %s\n", valid.error().message.c_str());
      return 2;
    }
    policy::alias_file names(s.aliases);
    names.refresh();
    for (const policy::problem& p : names.problems())
      std::fprintf(stderr, "binnacle-aggregator: %s\n", p.text().c_str());
    if (!names.problems().empty()) return 2;
    const logger log("aggregator", s.log_level);
    for (const std::string& note : parsed->notes) log.warning("{}", note);
    if (const auto exposed = tls::exposed_key(s.key); !exposed.empty()) log.warning("{}", exposed);
    return aggregator::run(s, std::move(names), log);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "binnacle-aggregator: %s\n", e.what());
    return 1;
  }
}
