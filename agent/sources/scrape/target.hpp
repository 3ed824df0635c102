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

/// How gauges become one series if they are the same without the dropped labels. Counters are always added
/// up.
enum class fold : unsigned char {
  none,  ///< the first gauge counts and the others are refused
  sum,
  max,
  min,
  mean,
};

/// An exporter, and what to take from it.
struct scrape_target {
  std::string name;  ///< in messages and in the label `target`
  bool secure = false;
  endpoint at;
  std::string path;  ///< with a leading '/', query included
  duration period = std::chrono::seconds(1);
  duration timeout = std::chrono::seconds(1);  ///< for the whole scrape, from the look-up to the last byte
  duration stale_after{};                      ///< zero: derived from the period
  /// Globs (*, ?, [a-z]) of the names to take; empty: all. A histogram's _bucket and any _created are taken
  /// only if a glob ends in _bucket or _created.
  std::vector<std::string> metrics;
  std::vector<std::string> drop_labels;
  std::vector<std::string> keep_labels;  ///< if not empty, all other labels are dropped
  fold folded = fold::none;
  std::size_t series = 1'000;    ///< at most this many are taken
  std::size_t bytes = 8u << 20;  ///< at most, of one answer
  tls::files pem;  ///< for https: authority must be set; certificate and key if the exporter asks for them
  std::string server_name;  ///< the name that its certificate must be issued for; empty: the host
  std::string token_file;   ///< for https: read for each scrape and sent as a bearer token

  std::string url() const;
  /// A value older than this is absent: stale_after, or what follows from the period.
  duration longest_age() const noexcept;
};

/// Parses "http://127.0.0.1:9400/metrics", "https://[::1]:10250/metrics/cadvisor", or "http://localhost:9100"
/// (the path is then /metrics). Errors: invalid_input with the expected form.
result<scrape_target> parse_target(std::string_view url);

/// Parses a whole file of targets; agent/README.md has its form. `name` is the file's name for messages.
/// `period` is for targets that give none. Errors: invalid_input, "FILE line 3: …".
result<std::vector<scrape_target>> parse_targets(const std::string& yaml, const std::string& name,
                                                 duration period);

/// Checks the targets together: names must differ, and there must not be too many.
result<void> check_targets(const std::vector<scrape_target>& all);

}  // namespace binnacle::agent
