#pragma once

#include "aggregator/model_servers/asker.hpp"
#include "common/clock.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace binnacle::model_servers {

/// Which lines about ill model servers and models the log gets. Each gets a line when its trouble begins. If
/// its sentence changes, it gets another one as soon as the last one is `again_after` old. So the last line
/// about it is the right one, and a reason that changes all the time does not fill the log. Pure. Bounds: as
/// many states as the asker names.
class trouble_log {
 public:
  static constexpr duration again_after = std::chrono::minutes(10);
  static constexpr std::size_t most_at_once = 10;

  struct lines {
    std::vector<std::string> warnings;  ///< most_at_once, and one that counts the rest
    std::string relief;                 ///< how many have no trouble any more; empty: none
  };
  /// `ill`: all that have trouble now.
  lines changes(const std::vector<asker::ill>& ill, instant now);

 private:
  struct told {
    std::string sentence;
    instant at{};
  };
  std::map<std::string, told> told_;  // by who
};

}  // namespace binnacle::model_servers
