#pragma once

#include "cli/connection.hpp"
#include "common/error.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::doctor {

/// The settings of this machine's agent that the checks use, as `binnacle-agent … --print-config` prints
/// them.
struct agent_settings {
  std::string node_name;  ///< empty: the lower-cased host name
  std::vector<std::string> aggregators;
  std::string server_name;
  tls::files pem;          ///< of the link; `authority` verifies the aggregator
  std::string token_file;  ///< its token speaks for the node
  std::string listen, listen_cert, listen_ca;
  std::string sys_root = "/sys";
};

/// This machine's agent: how it is run, and its settings.
struct agent_here {
  std::string program;
  std::vector<std::string> arguments;
  int pid = 0;  ///< 0: none runs
  agent_settings settings;
};

/// Where the doctor runs, and the addresses, credentials and files that it uses. Filled in once, before the
/// first check.
struct place {
  /// Put before every path of this machine; empty except in tests.
  std::string root = {};
  std::string host = {};
  connection to = {};
  std::string scheduler_config = {};        ///< file; empty: `extenders` are called as `to` says
  std::vector<std::string> extenders = {};  ///< URLs; empty: the extenders that the aggregators of `to` name
  std::string kube_config = {}, kube_context = {};
  std::string account = {};  ///< the aggregator's service account, namespace/name
  std::function<const char*(const char*)> variables = [](const char*) { return nullptr; };
  result<agent_here> agent = error{errc::not_found, "no binnacle-agent is set up here"};
  std::chrono::milliseconds patience = std::chrono::seconds(5);  ///< with each peer
  std::chrono::system_clock::time_point now = {};

  std::string path(std::string_view of) const { return root + std::string(of); }
  /// The machine's /sys: the agent's, else in a container the host's, else /sys itself.
  std::string sys() const;
};

/// The first line of a file, trimmed; nothing if it cannot be read.
std::optional<std::string> first_line(const std::string& file);
/// The last `most` bytes of a file, and what was added meanwhile. Errors: those of read_file(); a process
/// that has ended gives some also if its file in /proc could be opened.
result<std::string> last_bytes(const std::string& file, std::size_t most);
bool exists(const std::string& file) noexcept;

}  // namespace binnacle::cli::doctor
