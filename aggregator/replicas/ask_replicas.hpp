#pragma once

#include "aggregator/snapshot/snapshot.hpp"
#include "common/async/task.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::replicas {

struct question {
  std::vector<endpoint> at;          ///< ops ports; a name may have the addresses of several replicas
  std::shared_ptr<SSL_CTX> context;  ///< made with tls::trust::ourselves
  std::chrono::milliseconds for_one{5'000};
  std::chrono::milliseconds for_all{10'000};
  std::chrono::milliseconds between{1'000};  ///< two questions to a replica that must be asked again
  std::size_t most_addresses = 64;
  std::size_t most_bytes = aggregator::most_snapshot_bytes;
};

struct outcome {
  std::optional<aggregator::snapshot> state;  ///< its age is by our own clock
  std::string from;                           ///< the address that gave it
  bool is_young = false;      ///< its giver began without a state shortly before, and no other gave one
  std::uint64_t asked = 0;    ///< questions
  std::uint64_t refused = 0;  ///< answered with another status than 200
  std::uint64_t failed = 0;   ///< no answer, or none that is a snapshot
  std::vector<std::string> troubles;  ///< a sentence for each of these, each once
};

/// Asks replicas for their state, one after the other, until one gives a state that is not young (README.md).
/// A replica that is busy or still reads its policies (503 with Retry-After) is asked again. It takes no
/// longer than `for_all`, whatever the other replicas do. Include from .cpp files only. Threads: one loop.
async::task<outcome> ask_replicas(question q);

}  // namespace binnacle::replicas
