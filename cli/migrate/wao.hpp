#pragma once

#include "cli/migrate/migration.hpp"

#include <string>
#include <string_view>

/// What the parts of WAO's migration (wao*.cpp) share.
namespace binnacle::cli::migrate {

/// The policy that is made for the pods of WAO's schedulers.
inline constexpr std::string_view wao_policy_name = "fewer-watts";

/// Whether the text has one of the groups of WAO's objects in it.
bool has_wao_group(std::string_view text);

/// The object's namespace; "default" if it names none.
std::string name_space_of(const manifest& m);

/// The scheduler that the chart installs with the values.
std::string name_of_the_charts(const migration& m);

// The parts, one file each. Each returns whether it knows this manifest.
bool migrate_wao_node_config(const manifest& m, migration& out);
bool migrate_wao_template(const manifest& m, migration& out);
/// Handles Nodes, of which WAO's first version reads labels.
bool migrate_wao_node(const manifest& m, migration& out);
bool migrate_wao_scheduler(const manifest& m, migration& out);
/// Handles WAO's own programs, and pods and workloads that name its schedulers.
bool migrate_wao_workload(const manifest& m, migration& out);

}  // namespace binnacle::cli::migrate
