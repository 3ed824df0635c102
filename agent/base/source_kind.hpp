#pragma once

#include "agent/base/probe.hpp"
#include "agent/base/settings.hpp"
#include "agent/base/source.hpp"
#include "agent/process/capabilities.hpp"
#include "common/log/log.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

class foreign_names;

/// What a source needs of the kernel while it runs, gathered by needed_privileges().
struct source_needs {
  struct capability {
    int number;        ///< of <linux/capability.h>
    std::string what;  ///< that it is for: "pmu"
  };
  capability_set owned = 0;        ///< capabilities that the process has: what is not among them is no choice
  std::vector<std::string> files;  ///< opened again and again; a refused one needs CAP_DAC_READ_SEARCH
  std::vector<capability> capabilities;
};

/// What the agent lends to each source that it makes.
struct source_parts {
  logger log;
  std::shared_ptr<foreign_names> names;  ///< shared by the sources of users' series
};

/// A source as the agent knows it before it exists: its name, its settings with their defaults, what it
/// needs, and how it is made. Each source describes itself in its own folder; source_list.cpp lists them.
/// Only report/ also knows one: it reads RAPL's perf PMU. Threads: the agent's start, before any loop runs.
class source_kind {
 public:
  virtual ~source_kind() = default;

  /// As `sources` names it and a node's status shows it.
  virtual std::string_view name() const noexcept = 0;
  /// False for one that is read only if `sources` names it.
  virtual bool usual() const noexcept { return true; }
  /// False for a part of another source, or one that is always read: `sources` takes its name, --help does
  /// not offer it.
  virtual bool offered() const noexcept { return true; }
  /// Whether it reads this machine itself, and not what users, exporters or other machines say: --report.
  virtual bool of_this_machine() const { return true; }
  virtual bool wanted(const settings& s) const { return s.reads(name()); }

  /// Adds its settings, in a group of its own. They are bound to this object, which outlives the spec.
  virtual void bind(config_spec& /*spec*/) {}
  /// Checks what the form of single settings cannot say, and reads the files that they name. Called once
  /// `sources` and the common settings are known, wanted or not. Errors: invalid_input, one sentence with the
  /// remedy.
  virtual result<void> complete(const settings& /*s*/) { return {}; }
  /// Called if it is wanted, without the capabilities that open any file: see needed_privileges().
  virtual void add_needs(const settings& /*s*/, source_needs& /*needs*/) const {}

  /// Nothing if the settings give it nothing to read.
  virtual std::unique_ptr<source> make(const settings& s, const source_parts& with) const = 0;
  /// What --probe says instead of a source that is not made.
  virtual std::vector<finding> why_not_made() const { return {}; }
};

using source_kinds = std::vector<std::unique_ptr<source_kind>>;

/// Adds the setting "NAME-period": the time between two reads of this source, 0s for the common `period`.
void add_period(config_spec& spec, std::string_view name, duration& own,
                duration most = std::chrono::hours(1));

/// The names that `sources` offers, and those that it has by default.
std::vector<std::string> offered_names(const source_kinds& kinds);
std::vector<std::string> usual_names(const source_kinds& kinds);

}  // namespace binnacle::agent
