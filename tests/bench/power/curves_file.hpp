#pragma once

#include "common/error.hpp"
#include "tests/bench/power/servers.hpp"

#include <string>
#include <vector>

namespace binnacle::bench {

/// Reads the servers of a file: a name, cores, and the watts at idle, 10, 20 … 100 % of the load. The end of
/// the file's name says whether it is YAML, a list of {name, cores, watts: [eleven numbers]} with a count
/// where a fleet has several of one, or CSV, a line of thirteen fields for each server. In CSV, everything
/// before the last twelve fields is the name, with commas and quotes. A first line that begins with "name",
/// lines that begin with '#', and empty lines are skipped. Errors: the file, the server or the line, and what
/// is wrong: another number of watts, no number, watts that fall by more than 5 % from one load to the next,
/// a curve that cannot be used, no cores, a name twice, no server at all; or what read_file() says. Blocks:
/// reads the file.
result<std::vector<server>> read_servers(const std::string& file);
/// The same for a text. `file` is the name of its file. Pure.
result<std::vector<server>> parse_servers(const std::string& file, const std::string& text);

}  // namespace binnacle::bench
