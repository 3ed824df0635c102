#pragma once

#include "cli/dashboard/history/question.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/http/client/destination.hpp"
#include "common/log/log.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::cli::dashboard::history {

/// The user's own time-series database, as the command line names it.
struct settings {
  std::string url;                     ///< of a server with Prometheus' HTTP API; empty: none
  http::proof who;                     ///< secrets are given as files
  std::vector<std::string> where;      ///< KEY=VALUE: labels that our series have in this database
  std::string names = "remote-write";  ///< as parse_naming() takes it
};
inline constexpr const char* example_url = "https://prometheus.example:9090";

/// Checks that the settings fit together. Errors: invalid_input, one sentence with the remedy.
result<void> check(const settings& s);

/// Asks the user's time-series database over connections that are kept open. Threads: one loop, which must
/// outlive this object.
class database {
 public:
  static constexpr std::size_t most_at_once = 4;  ///< questions of all pages; a further one is refused
  static constexpr std::chrono::seconds patience{10};
  static constexpr std::size_t most_bytes = 4u << 20;  ///< of one answer

  /// Reads the PEM files. Errors: those of check(), and what is wrong with a file.
  static result<std::unique_ptr<database>> open(async::loop& on, const settings& s, logger log);
  ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  /// Calls `then` within `patience`, with page_text() or with the reason why there is none. Errors:
  /// overloaded; those of promql() and understood(); a token file that cannot be read.
  void ask(question q, std::function<void(result<std::string>)> then);
  /// Cancels all open questions. Call it before the loop ends.
  void stop();

 private:
  struct impl;
  explicit database(std::shared_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::cli::dashboard::history
