#pragma once

#include "agent/sources/host/host.hpp"
#include "agent/sources/path/peer.hpp"
#include "agent/sources/scrape/target.hpp"
#include "common/config.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

/// The agent's settings, with their defaults. Every member is a key of the YAML file and a flag of the same
/// name (underscores as dashes); see bind().
struct settings {
  std::vector<std::string> aggregator;  ///< host:port of each replica, or of the address they share
  std::string server_name;
  std::string node_name;  ///< default: the host name, lower-cased
  std::string cluster;
  std::string cert, key, ca;
  std::string token_file;
  double uplink_budget = 0;  ///< bytes per second; 0: no bound

  std::vector<std::string> sources{"rapl", "os", "pmu", "bmc", "textfile", "scrape", "path"};
  duration period = std::chrono::seconds(1);
  duration rapl_period{}, os_period{}, pmu_period{}, rdt_period{}, textfile_period{}, scrape_period{},
      path_period{};  ///< zero: `period`
  duration rapl_least_period = std::chrono::milliseconds(200);
  double read_budget = 0.5;  ///< percent of one core
  std::string frozen = "flag";
  double rapl_tdp = 0;
  duration os_sensor_period = std::chrono::seconds(10), os_drive_period = std::chrono::minutes(1);
  bool os_per_cpu = false;
  std::int64_t rdt_groups = 64;
  std::vector<std::string> inlet_sensors = usual_inlets;
  bool virtual_interfaces = false;
  std::string pmu_preset = "default";
  std::vector<std::string> pmu_events;
  bool pmu_per_cpu = false;
  bool pmu_pods = false;
  duration pmu_pods_period = std::chrono::seconds(10);
  std::int64_t pmu_most_pods = 64;
  std::string textfile_directory;
  std::vector<std::string> scrape;            ///< exporters' URLs
  std::vector<std::string> scrape_metrics;    ///< globs, for those
  std::string scrape_file;                    ///< more exporters, each with settings of its own
  std::vector<scrape_target> scrape_targets;  ///< of both; complete() fills it
  std::vector<std::string> path;
  std::vector<path_peer> path_peers;  ///< the same, read by complete()
  duration path_timeout = std::chrono::seconds(1);

  std::string bmc_device = "/dev/ipmi0";
  std::string bmc_host;  ///< empty: the BMC of this machine, in-band
  std::string bmc_protocol = "2.0";
  std::string bmc_credentials_file;
  bool bmc_defaults = true;
  std::vector<std::string> bmc_sensors, bmc_exclude, bmc_roles;
  duration bmc_period = std::chrono::seconds(1);
  double bmc_budget = 5;
  std::string ipmi_helper;  ///< default: binnacle-ipmi beside this program
  std::string ipmi_config;
  std::string ipmi_socket;
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";

  std::string listen = "127.0.0.1:9103";  ///< empty: no scrape endpoint
  std::string health;                     ///< empty: health is at `listen` alone
  std::string listen_cert, listen_key, listen_ca;

  std::string log_level = "info";
  bool probe = false;
  std::string report;  ///< where --report writes; "-": the standard output, empty: no report
  std::string output = "text";

  /// The period of a source, from its own key or the common one.
  duration period_of(duration own) const noexcept { return own > duration::zero() ? own : period; }
  bool reads(std::string_view source) const noexcept;
};

/// The description of `s` for the command line and the file. `s` must outlive the result.
config_spec bind(settings& s);

/// Fills in what depends on the machine (node name), and checks what the form of single values cannot say.
/// Errors: invalid_input, one sentence with the remedy.
result<void> complete(settings& s);

/// Where to listen.
struct listen_address {
  std::string address;  ///< empty: every address, of both families
  std::uint16_t port = 0;
};
/// ":9103", "127.0.0.1:9103", "[::1]:9103". Errors: invalid_input with the form expected; `key` is the
/// setting.
result<listen_address> parse_listen(const std::string& text, std::string_view key = "listen");

}  // namespace binnacle::agent
