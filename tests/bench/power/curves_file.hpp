#pragma once

#include "common/error.hpp"
#include "tests/bench/power/servers.hpp"

#include <string>
#include <vector>

namespace binnacle::bench {

/// The servers of a file: a name, cores, and the watts at idle, 10, 20 … 100 % of the load. By its name it is
/// YAML, a list of {name, cores, watts: [eleven numbers]}, or CSV, a line of thirteen fields for each server;
/// what stands before the last twelve is the name, commas and quotes included. A first line that begins with
/// "name", lines that begin with '#', and empty ones say nothing.
/// Errors: the file, the server or the line, and what is wrong: another number of watts, no number, a curve
/// that is none, no cores, a name twice, no server at all; what read_file() says. Blocks: reads the file.
result<std::vector<server>> read_servers(const std::string& file);
/// The same of a text that `file` holds. Pure.
result<std::vector<server>> parse_servers(const std::string& file, const std::string& text);

}  // namespace binnacle::bench
