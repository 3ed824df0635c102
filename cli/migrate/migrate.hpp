#pragma once

#include "cli/commands.hpp"
#include "cli/migrate/migration.hpp"

#include <string>
#include <vector>

namespace binnacle::cli::migrate {

/// The values as YAML for `helm install -f`, with a line that says where they come from.
std::string values_text(const migration& m);

/// The objects to apply beside the chart, as YAML documents; empty if there are none.
std::string objects_text(const migration& m);

/// The notes for people, and these objects; what they must do themselves comes last. `width` in columns.
std::string report_text(const migration& m, const paint& with, std::size_t width);

/// {"values":…as YAML text…,"objects":…likewise…,"notes":[{"fate","subject","sentence"}]}
std::string as_json(const migration& m);

}  // namespace binnacle::cli::migrate

namespace binnacle::cli {

/// `binnacle migrate FILE...`: reads manifests ("-": standard input), prints values for the chart to `out`
/// and what became of everything to `err`. 1 when a file cannot be read or holds no manifest.
int migrate_command(const std::vector<std::string>& files, const terminal& on);

}  // namespace binnacle::cli
