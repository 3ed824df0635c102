#pragma once

#include "agent/ipmi/bmc_link.hpp"
#include "agent/ipmi/peer.hpp"
#include "agent/ipmi/read_schedule.hpp"
#include "agent/ipmi/sdr_cache.hpp"
#include "agent/ipmi/sensor_reader.hpp"
#include "agent/ipmi/settings.hpp"
#include "agent/ipmi/watchdog.hpp"
#include "common/doubling.hpp"
#include "common/log/log.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::ipmi {

/// What the BMC is, and all its sensors.
struct inventory {
  bmc who;
  std::vector<known_sensor> sensors;
};

/// The helper's main loop. It keeps the link to the BMC, reads each sensor when its turn comes, and tells the
/// agent.
///
///   closed --open--> open --lost--> closed (again after 1, 2, 4 … 60 s; 300 s when the
///      |                                          BMC does not offer what is configured)
///      |  refused (user, password, K_g)
///      v
///   refused: nothing is tried before the credentials file changes
class monitor {
 public:
  monitor(const settings& s, link_options link, std::vector<role_rule> roles, logger log);

  /// Serves `agent` until no agent can come any more, or until asked_to_end(). Blocks.
  void serve(peer& agent);

  /// Opens the link and finds the sensors; for --list. Errors: those of bmc_link::open and
  /// sdr_cache::sensors.
  result<const inventory*> find();
  struct attempt {
    bool lost = false;           ///< the link is gone
    std::optional<reading> got;  ///< nothing: the BMC is busy, and the sensor's last value just ages
  };
  /// Reads one sensor now.
  attempt read(const known_sensor& s);

 private:
  void greet();
  void part();
  void take(const from_agent& message);
  void hear();
  void take_what_came();
  void work(instant now);
  instant next_work(instant now) const;
  void try_open(instant now);
  void close(error why, instant now);
  void tell_status(bool ok, std::string message, bool permanent);
  void tell_inventory();
  void replan(instant now);
  void tell_plan();
  void read_next(const std::string& key);
  void check_repository(instant now);
  void tell_stats(instant now);
  result<credentials> load() const;

  // What does not change.
  settings settings_;
  link_options options_;
  std::vector<role_rule> roles_;
  logger log_;
  watchdog watchdog_;

  // What concerns the BMC.
  credentials who_;
  std::optional<credentials> refused_;  // the BMC refused these; they are not tried again
  std::unique_ptr<bmc_link> link_;
  std::unique_ptr<sensor_reader> reader_;
  sdr_cache cache_;
  inventory found_;
  std::map<std::string, const known_sensor*, std::less<>> by_key_;
  instant retry_at_{};
  doubling retries_;
  int busy_openings_ = 0;  // openings in a row at which the BMC was busy
  instant repository_at_{};

  // What concerns the agent.
  peer* agent_ = nullptr;
  bool talking_ = false;
  status said_;
  std::optional<wanted_sensors> selected_;
  interest waited_for_;
  read_schedule schedule_;
  std::map<std::string, std::uint32_t> planned_;
  instant planned_at_{};
  std::map<std::string, int> busy_;  // by key: readings in a row for which the BMC was busy or had no time
  stats counts_;
  instant stats_at_{};
};

}  // namespace binnacle::ipmi
