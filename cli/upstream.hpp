#pragma once

#include "cli/client.hpp"
#include "cli/connection.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::cli {

/// The replicas' ops faces, asked over connections that are kept. Include from .cpp files only. Threads: one
/// loop, which must outlive it.
class upstream {
 public:
  /// Errors: those of parse_endpoint() and security_for().
  static result<upstream> open(const connection& to);
  ~upstream();
  upstream(upstream&&) noexcept;
  upstream& operator=(upstream&&) noexcept;

  struct told {
    std::string url;
    result<json_answer> said;
    unsigned status = 0;  ///< HTTP's; 0: no answer
  };
  /// The first replica that has the answer, beginning with the one that had it last. One that refuses is
  /// passed over, but not for status 400: the others would say the same. If none has it, what the first
  /// refusal said, or else why the first one could not be reached.
  async::task<told> ask_one(std::string target);
  /// Every replica, side by side; their answers in the order they were given. Takes as long as the slowest.
  async::task<std::vector<told>> ask_each(std::string target);

  std::size_t size() const noexcept;

  /// How long to wait between two lists of all nodes. One costs the aggregator 8 ms a thousand nodes
  /// (docs/measured.md), so that once a second a thousand nodes costs it 0.8 % of a core, whatever their
  /// number.
  static std::chrono::milliseconds pause_between_lists(std::size_t nodes);

 private:
  struct replica;
  upstream();
  async::task<told> ask(replica& which, std::string target);
  async::task<void> ask_into(std::size_t which, std::string target, std::vector<told>& all);
  /// Asks the replicas from index `first` on.
  async::task<void> ask_from(std::size_t first, std::string target, std::vector<told>& all);
  std::vector<std::unique_ptr<replica>> all_;
  std::size_t at_ = 0;
};

}  // namespace binnacle::cli
