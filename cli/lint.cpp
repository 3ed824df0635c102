#include "cli/lint.hpp"

#include "aggregator/policy/text/folder.hpp"
#include "aggregator/policy/text/lint.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "cli/input_file.hpp"
#include "cli/views/units.hpp"
#include "common/text/json_writer.hpp"

#include <algorithm>
#include <filesystem>

namespace binnacle::cli {
namespace {

namespace fs = std::filesystem;
using policy::problem;
using policy::severity;

/// The named files; a folder stands for the policy files that the aggregator would read in it. A folder
/// without policy files is a problem: most likely it is the wrong one.
std::vector<std::string> expanded(const std::vector<std::string>& names, std::vector<problem>& problems) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code ec;
    if (!fs::is_directory(name, ec)) {
      files.push_back(name);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : fs::directory_iterator(name, ec)) {
      if (policy::is_policy_file(entry.path().filename().string())) files.push_back(entry.path());
    }
    std::sort(files.begin() + first, files.end());
    if (ec) problems.push_back({name, 0, "", "cannot be read: " + ec.message(), severity::error});
    if (!ec && files.size() == static_cast<std::size_t>(first))
      problems.push_back({name, 0, "", "no *.yaml or *.yml in this folder", severity::error});
  }
  return files;
}

colour ink_of(severity s) {
  return s == severity::error ? colour::red : s == severity::warning ? colour::yellow : colour::dim;
}

std::string as_json(const std::vector<problem>& problems, std::size_t files, std::size_t errors) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("files", files).field("errors", errors);
  out.key("problems").begin_array();
  for (const problem& p : problems) policy::write_problem(out, p);
  out.end_array().end_object();
  return text + '\n';
}

}  // namespace

int lint_command(const std::vector<std::string>& names, const terminal& on) {
  std::vector<problem> problems;
  const auto files = expanded(names, problems);
  for (const std::string& file : files) {
    const auto text = input_file(file, policy::most_text_bytes);
    if (text.has_error()) {
      problems.push_back({file, 0, "", text.error().message, severity::error});
      continue;
    }
    auto found = policy::lint(file == "-" ? "<stdin>" : file, *text);
    problems.insert(problems.end(), found.begin(), found.end());
  }
  const auto count = [&](severity s) {
    return std::count_if(problems.begin(), problems.end(), [s](const problem& p) { return p.level == s; });
  };
  const auto errors = count(severity::error), warnings = count(severity::warning);
  if (on.json) {
    on.out << as_json(problems, files.size(), static_cast<std::size_t>(errors));
  } else {
    for (const problem& p : problems)
      on.out << p.text(on.with(ink_of(p.level), policy::to_string(p.level))) << '\n';
    std::string verdict = counted(static_cast<std::int64_t>(files.size()), "file") + ": ";
    verdict += errors == 0 ? "no errors" : counted(errors, "error");
    if (warnings > 0) verdict += ", " + counted(warnings, "warning");
    on.out << on.with(errors > 0 ? colour::red : colour::green, verdict) << '\n';
  }
  return errors > 0 ? exit_problem : exit_ok;
}

}  // namespace binnacle::cli
