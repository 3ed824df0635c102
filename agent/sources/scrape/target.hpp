#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// How gauges that are the same once labels are dropped become one. Counters are always added up.
enum class fold : unsigned char {
  none,  ///< of gauges the first counts and the others are refused
  sum,
  max,
  min,
  mean,
};

/// One exporter and what is wanted of it.
struct scrape_target {
  std::string name;  ///< in messages and in the label `target`
  bool secure = false;
  endpoint at;
  std::string path;  ///< with a leading '/', query included
  duration period = std::chrono::seconds(1);
  duration timeout = std::chrono::seconds(1);  ///< of the whole scrape, from the look-up to the last byte
  duration stale_after{};                      ///< zero: by the period
  /// Names taken, as globs (*, ?, [a-z]); none: all. The _bucket of histograms and _created are taken only by
  /// a glob that ends in _bucket or _created.
  std::vector<std::string> metrics;
  std::vector<std::string> drop_labels;
  std::vector<std::string> keep_labels;  ///< not empty: all others are dropped
  fold folded = fold::none;
  std::size_t series = 1'000;    ///< taken at most
  std::size_t bytes = 8u << 20;  ///< of one answer
  tls::files pem;                ///< https: authority must be there; certificate and key if it asks for them
  std::string server_name;       ///< what its certificate must be issued for; empty: the host
  std::string token_file;        ///< https: read for each scrape and sent as a bearer token

  std::string url() const;
  /// What is older is absent: stale_after, or what goes with the period.
  duration longest_age() const noexcept;
};

/// "http://127.0.0.1:9400/metrics", "https://[::1]:10250/metrics/cadvisor", "http://localhost:9100" (/metrics
/// then). Errors: invalid_input with the form expected.
result<scrape_target> parse_target(std::string_view url);

/// A whole file of targets; see agent/README.md. `name` of the file is for messages, `period` for targets
/// that give none. Errors: invalid_input, "FILE line 3: …".
result<std::vector<scrape_target>> parse_targets(const std::string& yaml, const std::string& name,
                                                 duration period);

/// Checks what no single target shows: two targets of one name, too many targets.
result<void> check_targets(const std::vector<scrape_target>& all);

}  // namespace binnacle::agent
