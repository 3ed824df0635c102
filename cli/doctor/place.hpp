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

/// The settings of this machine's agent that matter to others, as `binnacle-agent … --print-config` says
/// them.
struct agent_settings {
  std::string node_name;  ///< empty: the lower-cased host name
  std::vector<std::string> aggregators;
  std::string server_name;
  tls::files pem;          ///< of the link; `authority` verifies the aggregator
  std::string token_file;  ///< a token that speaks for the node
  std::string listen, listen_cert, listen_ca;
  std::string sys_root = "/sys";
};

/// The agent of this machine: how it is run, and what it was told.
struct agent_here {
  std::string program;
  std::vector<std::string> arguments;
  int pid = 0;  ///< 0: none runs
  agent_settings settings;
};

/// From where, and with what, the doctor looks. Filled in once, before the first check.
struct place {
  /// In front of every path of this machine; empty but in tests.
  std::string root = {};
  std::string host = {};
  connection to = {};
  std::string scheduler_config = {};        ///< file; empty: `extenders` are called as `to`
  std::vector<std::string> extenders = {};  ///< URLs; empty: as the aggregators of `to` say
  std::string kube_config = {}, kube_context = {};
  std::string account = {};  ///< the aggregator's service account, namespace/name
  std::function<const char*(const char*)> variables = [](const char*) { return nullptr; };
  result<agent_here> agent = error{errc::not_found, "no binnacle-agent is set up here"};
  std::chrono::milliseconds patience = std::chrono::seconds(5);  ///< with each peer
  std::chrono::system_clock::time_point now = {};

  std::string path(std::string_view of) const { return root + std::string(of); }
  /// The machine's /sys: the agent's, else the host's in a container, else this one.
  std::string sys() const;
};

/// The first line of a file, without blanks around it; none if it cannot be read.
std::optional<std::string> first_line(const std::string& file);
/// The last `most` bytes of a file. Errors: not_found, permission, io.
result<std::string> last_bytes(const std::string& file, std::size_t most);
bool exists(const std::string& file) noexcept;

}  // namespace binnacle::cli::doctor
