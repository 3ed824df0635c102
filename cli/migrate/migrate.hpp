#pragma once

#include "cli/commands.hpp"
#include "cli/migrate/migration.hpp"

#include <string>
#include <vector>

namespace binnacle::cli::migrate {

/// The values as YAML for `helm install -f`; a first line says where they come from.
std::string values_text(const migration& m);

/// The objects to apply in addition to the chart, as YAML documents; empty if there are none.
std::string objects_text(const migration& m);

/// The notes for people, and these objects. What people must do themselves comes last. `width` is in columns.
std::string report_text(const migration& m, const paint& with, std::size_t width);

/// {"values":"YAML text","objects":"YAML text","notes":[{"fate","subject","sentence"}]}
std::string as_json(const migration& m);

}  // namespace binnacle::cli::migrate

namespace binnacle::cli {

/// `binnacle migrate FILE...`: reads manifests ("-": standard input), prints values for the chart to `out`,
/// and what became of each setting to `err`. Returns 1 if a file cannot be read or holds no manifest.
int migrate_command(const std::vector<std::string>& files, const terminal& on);

}  // namespace binnacle::cli
