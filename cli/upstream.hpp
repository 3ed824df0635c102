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

/// Asks the replicas' ops ports over connections that are kept open. Include from .cpp files only. Threads:
/// one loop, which must outlive this object.
class upstream {
 public:
  /// Errors: those of parse_server_url() and security_for().
  static result<upstream> open(const connection& to);
  ~upstream();
  upstream(upstream&&) noexcept;
  upstream& operator=(upstream&&) noexcept;

  struct told {
    std::string url;
    result<json_answer> said;
    unsigned status = 0;  ///< the HTTP status; 0: no answer
  };
  /// Asks replicas one after the other until one answers, beginning with the one that answered last. After a
  /// refusal the next replica is asked, except after status 400, which all replicas would give. If none
  /// answers: the first refusal, or, if none refused, why the first replica could not be reached.
  async::task<told> ask_one(std::string target);
  /// Asks every replica at the same time. Answers are in the order of the replicas. Takes as long as the
  /// slowest one.
  async::task<std::vector<told>> ask_each(std::string target);

  std::size_t size() const noexcept;

  /// The pause between two lists of all nodes: a second for every thousand nodes, from 1 to 20 s. A list
  /// costs the aggregator 8 ms per thousand nodes (docs/measured.md), so lists cost it 0.8 % of a core at
  /// most, up to 20,000 nodes.
  static std::chrono::milliseconds pause_between_lists(std::size_t nodes);

 private:
  struct replica;
  upstream();
  async::task<told> ask(replica& which, std::string target);
  async::task<void> ask_into(std::size_t which, std::string target, std::vector<told>& all);
  /// Asks the replicas from index `first` on, all at the same time.
  async::task<void> ask_from(std::size_t first, std::string target, std::vector<told>& all);
  std::vector<std::unique_ptr<replica>> all_;
  std::size_t at_ = 0;
};

}  // namespace binnacle::cli
