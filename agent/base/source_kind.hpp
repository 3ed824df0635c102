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
    std::string what;  ///< what the capability is for: "pmu"
  };
  capability_set owned = 0;        ///< capabilities that the process has; it can keep no others
  std::vector<std::string> files;  ///< opened again and again; a refused one needs CAP_DAC_READ_SEARCH
  std::vector<capability> capabilities;
};

/// What the agent lends to each source that it makes.
struct source_parts {
  logger log;
  std::shared_ptr<foreign_names> names;  ///< shared by the sources of users' series
};

/// What the agent knows of a source before it makes it: its name, its settings with their defaults, what it
/// needs of the kernel, and how it is made. Each source describes itself in its own folder; source_list.cpp
/// lists them all. Outside a source's own folder only report/ includes one of them: it reads RAPL's perf PMU.
/// Threads: the agent's start, before any loop runs.
class source_kind {
 public:
  virtual ~source_kind() = default;

  /// The name in the setting `sources` and in a node's status.
  virtual std::string_view name() const noexcept = 0;
  /// False for a source that is read only if `sources` names it.
  virtual bool usual() const noexcept { return true; }
  /// False for a part of another source, and for a source that is always read. The setting `sources` accepts
  /// such a name, but --help does not list it.
  virtual bool offered() const noexcept { return true; }
  /// Whether the source reads this machine itself. False if it takes what users, exporters or other machines
  /// say. --report asks only sources that read this machine.
  virtual bool of_this_machine() const { return true; }
  virtual bool wanted(const settings& s) const { return s.reads(name()); }

  /// Adds the source's settings to `spec`, in a group of their own. They are bound to this object, which
  /// outlives the spec.
  virtual void bind(config_spec& /*spec*/) {}
  /// Checks what cannot be checked one setting at a time, and reads the files that the settings name. Called
  /// once `sources` and the common settings are known, whether the source is wanted or not. Errors:
  /// invalid_input, one sentence with the remedy.
  virtual result<void> complete(const settings& /*s*/) { return {}; }
  /// Adds what the source needs. Called only if the source is wanted, while the capabilities that open any
  /// file are switched off: see needed_privileges().
  virtual void add_needs(const settings& /*s*/, source_needs& /*needs*/) const {}

  /// Makes the source. Null if the settings give it nothing to read.
  virtual std::unique_ptr<source> make(const settings& s, const source_parts& with) const = 0;
  /// What --probe says if make() makes no source.
  virtual std::vector<finding> why_not_made() const { return {}; }
};

using source_kinds = std::vector<std::unique_ptr<source_kind>>;

/// Adds the setting "NAME-period", the time between two reads of this source. 0s means the common `period`.
void add_period(config_spec& spec, std::string_view name, duration& own,
                duration most = std::chrono::hours(1));

/// The names that `sources` may have, and those that it has by default.
std::vector<std::string> offered_names(const source_kinds& kinds);
std::vector<std::string> usual_names(const source_kinds& kinds);

}  // namespace binnacle::agent
