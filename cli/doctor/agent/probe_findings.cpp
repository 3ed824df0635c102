#include "cli/doctor/agent/probe_findings.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace binnacle::cli::doctor {

findings findings_of_probe(const json::value& said, unsigned user) {
  findings out;
  std::vector<std::string> absent;
  for (const auto& s : list(said, "sources")) {
    const std::string source = text(s, "source");
    const auto& found = list(s, "findings");
    std::int64_t working = 0;
    for (const auto& f : found) working += text(f, "grade") == "works" ? 1 : 0;
    if (working > 0)
      out.push_back(
          ok(fmt::format("{}: {} {}", source, working, working == 1 ? "part works" : "parts work")));
    if (!flag(s, "works")) absent.push_back(source);
    for (const auto& f : found) {
      const std::string how = text(f, "grade");
      if (how == "works" || (how == "absent" && working > 0)) continue;
      const std::string sentence =
          fmt::format("{}: {}: {}: {}", source, text(f, "what"), how, text(f, "why"));
      const std::string remedy = text(f, "remedy");
      if (how == "broken") {
        out.push_back(user == 0 ? failure(sentence, remedy)
                                : warning(fmt::format("{} (seen as user {})", sentence, user), remedy));
      } else if (how == "limited") {
        out.push_back(warning(sentence, remedy));
      } else {
        out.push_back(ok(sentence, remedy));
      }
    }
  }
  if (absent.size() == list(said, "sources").size()) {
    out.push_back(failure("no source of this node can be read", "see above what each lacks"));
  }
  return out;
}

}  // namespace binnacle::cli::doctor
