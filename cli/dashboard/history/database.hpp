#pragma once

#include "cli/dashboard/history/question.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/http/destination.hpp"
#include "common/log/log.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::cli::dashboard::history {

/// Where the user's own history lies, as the command line says it.
struct settings {
  std::string url;                     ///< of a server with Prometheus' HTTP API; empty: none
  http::proof who;                     ///< secrets stand in files
  std::vector<std::string> where;      ///< KEY=VALUE: labels that our series have there
  std::string names = "remote-write";  ///< as parse_naming() takes it
};
inline constexpr const char* example_url = "https://prometheus.example:9090";

/// Whether they go together. Errors: invalid_input, one sentence with the remedy.
result<void> check(const settings& s);

/// The user's time-series database, asked over connections that are kept. Threads: one loop, which must
/// outlive it.
class database {
 public:
  static constexpr std::size_t most_at_once = 4;  ///< questions of all pages; one more is refused
  static constexpr std::chrono::seconds patience{10};
  static constexpr std::size_t most_bytes = 4u << 20;  ///< of one answer

  /// Reads the PEM files. Errors: those of check(), and what is wrong with a file.
  static result<std::unique_ptr<database>> open(async::loop& on, const settings& s, logger log);
  ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  /// `then` gets page_text(), or why there is none, within `patience`. Errors: overloaded; those of promql()
  /// and understood(); what is wrong with the token's file.
  void ask(question q, std::function<void(result<std::string>)> then);
  /// Ends what is asked. Before the loop goes.
  void stop();

 private:
  struct impl;
  explicit database(std::shared_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::cli::dashboard::history
