#pragma once

#include "common/clock.hpp"
#include "common/config/config.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// What to do about a stuck sensor: the setting `frozen`.
enum class on_frozen : unsigned char {
  flag,    ///< say so, and keep the value
  absent,  ///< say so, and withhold the value until the sensor moves
};

/// The agent's settings with their defaults, except those of single sources (see source_kind). Every member
/// is a key of the YAML file and a flag of the same name (underscores become dashes); see bind().
struct settings {
  std::vector<std::string> aggregator;  ///< host:port of each replica, or of the address they share
  std::string server_name;
  std::string node_name;  ///< default: the host name, lower-cased
  std::string cluster;
  std::string cert, key, ca;
  std::string token_file;
  double uplink_budget = 0;  ///< bytes per second; 0: no bound

  std::vector<std::string> sources;  ///< bind() puts the default sources in
  duration period = std::chrono::seconds(1);
  double read_budget = 0.5;  ///< percent of one core
  on_frozen frozen = on_frozen::flag;
  duration self_period = std::chrono::seconds(5);
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";

  std::string listen = "127.0.0.1:9103";  ///< empty: no scrape endpoint
  std::string health;                     ///< empty: the health paths are served at `listen` alone
  std::string listen_cert, listen_key, listen_ca, listen_denied_serials;

  binnacle::log_level log_level = binnacle::log_level::info;
  bool probe = false;
  std::string report;  ///< where --report writes; "-": the standard output, empty: no report
  output_form output = output_form::text;

  /// The period of a source: its own, or the common one if it has none.
  duration period_of(duration own) const noexcept { return own > duration::zero() ? own : period; }
  bool reads(std::string_view source) const noexcept {
    return std::ranges::find(sources, source) != sources.end();
  }
};

}  // namespace binnacle::agent
