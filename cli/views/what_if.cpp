#include "cli/views/what_if.hpp"

#include "cli/views/nodes.hpp"
#include "cli/views/power.hpp"
#include "cli/views/table.hpp"
#include "cli/views/units.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace binnacle::cli {
namespace {

/// The words for a reason why nodes take no pods, and what would help.
std::pair<std::string_view, std::string_view> words_for(std::string_view reason) {
  if (reason == "refused") return {"refused by the policy's dontschedule", ""};
  if (reason == "noLoad") return {"without a CPU load now", "see that the agent runs there, binnacle doctor"};
  if (reason == "noServer")
    return {"without a curve of a model server, and the policy asks for no other model",
            "see binnacle status and binnacle power NODE, or take model: Auto"};
  if (reason == "noMeter")
    return {"without a model and without host_power_watts",
            "give the node a meter, or one node with the same hardware"};
  if (reason == "badRated")
    return {"without a model and without host_power_watts, whose rated watts are of no use",
            "see binnacle power NODE"};
  if (reason == "learning")
    return {"whose watts are not known yet", "wait for some minutes, and see binnacle power NODE"};
  if (reason == "noFigure") return {"for which WAO's rules have no figure", ""};
  return {reason, ""};
}

std::string percent(double share) { return plain(100 * share, 1) + " %"; }

std::string headline(const json::value& answer) {
  const auto cap = number(answer, "maxLoad");
  const double cores = number(answer, "podCores").value_or(0);
  const double more = number(answer, "wattsThen").value_or(0) - number(answer, "wattsNow").value_or(0);
  const std::int64_t placed = integer(answer, "placed");
  std::string out = fmt::format("{} of {} CPU by policy {} ({}{})", counted(integer(answer, "pods"), "pod"),
                                text(answer, "cpu"), text(answer, "policy"), text(answer, "objective"),
                                cap ? fmt::format(" up to {} load", percent(*cap)) : "");
  if (text(answer, "mode") == "DryRun") out += ", as if it were enforced";
  if (placed == 0) return out;
  out += fmt::format(": {:.1f} W more", more);
  const double all = static_cast<double>(placed) * cores;
  return all > 0 ? out + fmt::format(", {:.2f} W a core", more / all) : out;
}

std::vector<std::string> rows(const json::value& answer, const paint& with) {
  table t;
  t.column("NODE");
  for (const char* name : {"PODS", "BUSY NOW", "BUSY THEN", "CORES", "W NOW", "W THEN", "W MORE"})
    t.column(name, align::right);
  t.column("MODEL");
  t.column("AGE", align::right);
  double now = 0, then = 0;
  for (const auto& n : list(answer, "nodes")) {
    const auto of = [&n](std::string_view key) { return number(n, key).value_or(0); };
    const double before = of("wattsNow"), after = of("wattsThen");
    now += before;
    then += after;
    t.row({{text(n, "node"), colour::bold},
           {fmt::format("{}", integer(n, "pods"))},
           {fmt::format("{:.1f}", of("loadCores") + of("inFlightCores"))},
           {fmt::format("{:.1f}", of("loadCoresThen")), flag(n, "full") ? colour::yellow : colour::none},
           {fmt::format("{:.0f}", of("cores"))},
           {fmt::format("{:.1f}", before)},
           {fmt::format("{:.1f}", after)},
           {fmt::format("{:.1f}", after - before)},
           {model_words(n)},
           {age(1000 * integer(n, "modelAgeSeconds")), colour::dim}});
  }
  t.row({{"total"},
         {fmt::format("{}", integer(answer, "placed"))},
         {},
         {},
         {},
         {fmt::format("{:.1f}", now)},
         {fmt::format("{:.1f}", then)},
         {fmt::format("{:.1f}", then - now)}});
  return t.lines(with);
}

}  // namespace

std::string render_what_if(const json::value& answer, const paint& with) {
  const std::int64_t pods = integer(answer, "pods"), placed = integer(answer, "placed");
  const std::int64_t known = integer(answer, "knownNodes");
  std::string out = with(colour::bold, headline(answer)) + '\n';
  if (placed > 0) {
    out += '\n';
    for (const auto& line : rows(answer, with)) out += line + '\n';
    out += fmt::format("\nAll {} with a model together: {:.1f} W now, {:.1f} W then, by their curves.\n",
                       counted(known, "node"), number(answer, "wattsNow").value_or(0),
                       number(answer, "wattsThen").value_or(0));
  }
  if (placed < pods) {
    const auto cap = number(answer, "maxLoad");
    const std::string why =
        known == 0 ? std::string("no node has a model and a load")
        : cap ? fmt::format("one more would fill each node with a model beyond maxLoad, {}", percent(*cap))
              : std::string("no node with a model has the cores free");
    out += with(colour::red, fmt::format("{} without room: {}.", counted(pods - placed, "pod"), why));
    out += known == 0 ? " kube-scheduler would place them by its own plug-ins.\n"
                      : " kube-scheduler would place them all the same, if their requests fit.\n";
  }
  const json::value full = object(answer, "full");
  if (integer(full, "count") > 0)
    out += fmt::format("no room for one more pod on {}: {}\n", counted(integer(full, "count"), "node"),
                       names_of(full));
  for (const auto& group : list(answer, "leftOut")) {
    const std::string reason(text(group, "reason"));  // words_for() gives views of it
    const auto [what, remedy] = words_for(reason);
    out += with(colour::yellow,
                fmt::format("{} {}: {}", counted(integer(group, "count"), "node"), what, names_of(group)));
    out += remedy.empty() ? "\n" : fmt::format(" ({})\n", remedy);
  }
  return out +
         with(colour::dim,
              "CPU and watts only: not memory, taints, affinities, nor what pods have requested already.\n");
}

}  // namespace binnacle::cli
