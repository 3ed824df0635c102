#include "cli/views/power.hpp"

#include "aggregator/predict/learning/estimate.hpp"
#include "cli/views/table.hpp"
#include "cli/views/units.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace binnacle::cli {
namespace {

constexpr double bar_width = 40;

std::string source_text(const json::value& m) {
  if (text(m, "source") == "server") return "its model server, " + text(m, "server");
  if (text(m, "source") == "rated")
    return "a straight line between its rated watts: nobody has measured such a node";
  const std::int64_t others = integer(m, "others");
  const std::string hardware = text(m, "hardware");
  const std::string alike = fmt::format("{} with the same hardware{}", counted(others, "node"),
                                        hardware.empty() ? "" : " (" + hardware + ")");
  if (text(m, "source") != "node") return "learned from " + alike;
  const std::string own = fmt::format("learned from its own meter ({})", text(m, "meter"));
  return others == 0 ? own : own + ", and at loads that it never had from " + alike;
}

std::string range_text(const json::value& m) {
  const auto from = number(m, "coveredFrom"), to = number(m, "coveredTo");
  if (!from || !to) return "it has not measured itself yet";
  return fmt::format("{} % of its loads, between {:.0f} and {:.0f} %; ±{:.1f} %",
                     integer(m, "coveredPercent"), 100 * *from, 100 * *to,
                     number(m, "noisePercent").value_or(0));
}

/// Says at which loads the curve is a guess: no node like this one was measured there.
std::string guess_text(const json::value& m) {
  const auto from = number(m, "knownFrom"), to = number(m, "knownTo");
  if (!from || !to) return {};
  std::string out;
  if (*from > 0) out = fmt::format("below {:.0f} % load, idle included", 100 * *from);
  if (*to < 0.975)
    out +=
        fmt::format("{}above {:.0f} %{}", out.empty() ? "" : ", and ", 100 * *to, out.empty() ? " load" : "");
  if (out.empty()) return out;
  return fmt::format("a guess {}: neither it nor a node like it was ever there", out);
}

/// What was learned of a node that has a curve of a model server, as a line; empty if nothing was.
std::string besides_text(const json::value& answer) {
  const json::value m = object(answer, "learned");
  if (list(m, "curve").empty()) return {};
  const auto predicted = number(m, "predictedWatts");
  return fmt::format("besides   {}{}; policies with model: Learned take it\n", source_text(m),
                     predicted ? fmt::format("; it says {:.1f} W", *predicted) : std::string());
}

/// A warning that the watts are not those of the CPUs alone, as a sentence; empty if nothing learns from
/// them.
std::string accelerators_text(const json::value& answer, bool learns) {
  const std::int64_t n = integer(answer, "acceleratorsInWatts");
  if (n <= 0 || !learns) return {};
  return fmt::format(
      "its meter also measures its {}, so what is learned follows their jobs, too: docs/power.md, Limits, "
      "says what helps",
      counted(n, "accelerator"));
}

/// What makes its watts less sure than they could be, a line each; empty if nothing does.
std::string trouble_lines(const json::value& answer, bool learns, const paint& with) {
  std::string out;
  const auto say = [&](std::string_view what, const std::string& why) {
    if (!why.empty()) out += with(colour::yellow, fmt::format("{}{}", what, why)) + '\n';
  };
  const bool learned_shown =
      !list(object(answer, "model"), "curve").empty() && text(object(answer, "model"), "source") != "server";
  if (learned_shown && flag(answer, "onlyExternal"))
    say("", "no policy takes this curve: all policies with minimizepower say model: External");
  say("trouble with its model server: ", text(answer, "modelServerTrouble"));
  say("its rated watts are of no use: ", text(answer, "ratedTrouble"));
  say("", text(answer, "meterTrouble"));
  say("", accelerators_text(answer, learns));
  return out;
}

/// Where its curve is from, and how well and how lately that was measured, a line each. `besides` is
/// besides_text().
std::string origin_lines(const json::value& answer, const json::value& m, const std::string& besides) {
  const std::string old = age(1000 * integer(m, "ageSeconds"));
  if (text(m, "source") == "rated") {
    const std::int64_t accelerators = integer(answer, "acceleratorsInWatts");
    return fmt::format("source    {}\n",
                       accelerators <= 0
                           ? source_text(m)
                           : fmt::format("a straight line between its rated watts: its meter also "
                                         "measures its {}",
                                         counted(accelerators, "accelerator")));
  }
  if (text(m, "source") == "server") {
    const auto assumed = integer(m, "assumedInputs");
    return fmt::format(
        "source    {}\ninputs    {}\nasked     {} ago\n{}", source_text(m),
        assumed == 0 ? std::string("all are measured")
                     : fmt::format("{} measured by nobody, so typical values stand for them",
                                   assumed == 1 ? std::string("one is") : fmt::format("{} are", assumed)),
        old, besides);
  }
  return fmt::format("source    {}\nmeasured  {}\nsamples   {}, {} left out; the curve is {} old\n",
                     source_text(m), range_text(m), integer(m, "samples"), integer(m, "outliers"), old);
}

/// The watts at each load, as a table with a bar each. `load`: where the node is now, if that is known.
std::string curve_lines(const json::value& m, std::optional<double> load, const paint& with) {
  const auto& curve = list(m, "curve");
  double most = 0;
  for (const auto& point : curve) most = std::max(most, number(point, "watts").value_or(0));
  // Of a curve with a hundred points, every fifth is shown.
  constexpr std::size_t lines = 20;
  const std::size_t step = std::max<std::size_t>(1, (curve.size() - 1) / lines);
  const std::size_t steps = (curve.size() - 1) / step;
  const auto nearest = load ? std::lround(*load * static_cast<double>(steps)) * static_cast<long>(step) : -1;
  // A measured bin is a twentieth wide, so it reaches half of that to either side.
  const auto known_from = number(m, "knownFrom"), known_to = number(m, "knownTo");
  const auto is_guess = [&](double ratio) {
    return known_from && known_to &&
           (ratio < *known_from - 0.025 || ratio > *known_to + 0.025 || (ratio == 0 && *known_from > 0));
  };
  table t;
  t.column("LOAD", align::right);
  t.column("WATTS", align::right);
  t.column("SAMPLES", align::right);
  t.column("");
  for (std::size_t i = 0; i < curve.size(); i += step) {
    const double w = number(curve[i], "watts").value_or(0);
    const std::int64_t samples = integer(curve[i], "samples");
    const auto bar = static_cast<std::size_t>(most > 0 ? std::lround(bar_width * w / most) : 0);
    const bool here = static_cast<std::int64_t>(i) == nearest;
    const double ratio = number(curve[i], "load").value_or(0);
    t.row({{fmt::format("{:.0f} %", 100 * ratio)},
           {fmt::format("{:.1f}", w)},
           {samples == 0 ? "" : fmt::format("{}", samples)},
           {std::string(bar, samples >= predict::least_samples ? '#'
                             : is_guess(ratio)                 ? '?'
                                                               : '.') +
                (here ? "  <- now" : ""),
            here ? colour::bold : colour::none}});
  }
  std::string out;
  for (const auto& line : t.lines(with)) out += line + '\n';
  return out;
}

}  // namespace

std::string render_power(const json::value& answer, const paint& with) {
  const json::value m = object(answer, "model");
  const auto load = number(answer, "loadRatio"), watts = number(answer, "watts");
  std::string now;
  if (watts) now += fmt::format(" {:.1f} W", *watts);
  if (load) now += fmt::format(" at {:.0f} % load", 100 * *load);
  std::string out =
      with(colour::bold, text(answer, "node")) + (now.empty() ? " says nothing of itself now" : now);
  const bool served = text(m, "source") == "server", rated = text(m, "source") == "rated";
  const std::string besides = served ? besides_text(answer) : std::string();
  const std::string trouble = trouble_lines(answer, (!served && !rated) || !besides.empty(), with);
  if (list(m, "curve").empty() && flag(answer, "onlyExternal"))
    return out + '\n' + trouble +
           "No model server has given a curve of it, and all policies with minimizepower say model: "
           "External: "
           "they have no opinion of this node.\n";
  if (list(m, "curve").empty()) {
    return out + '\n' + trouble +
           "Nothing is known of its watts yet: Binnacle learns while a policy with minimizepower is in "
           "force, from host_power_watts of this node or of nodes with the same hardware. Or give it "
           "rated_idle_watts and rated_peak_watts.\n";
  }
  if (const auto predicted = number(m, "predictedWatts"))
    out += fmt::format(", its curve says {:.1f} W", *predicted);
  out += '\n' + origin_lines(answer, m, besides);
  if (const std::string guess = guess_text(m); !guess.empty())
    out += "curve     " + with(colour::yellow, guess) + '\n';
  out += trouble;
  if (const auto restarts = integer(m, "restarts"); restarts > 0) {
    out += with(colour::yellow,
                fmt::format("learned from nothing again {}, the last time because {}",
                            restarts == 1 ? std::string("once") : fmt::format("{} times", restarts),
                            text(m, "restartedFor"))) +
           '\n';
  }
  if (flag(m, "meterStuck"))
    out += with(colour::yellow, "its meter stands still, or its watts do not rise with the load") + '\n';
  out += '\n';
  out += curve_lines(m, load, with);
  if (served || rated) return out;
  return out +
         with(colour::dim,
              fmt::format("#: measured here, with {} samples or more, .: taken from similar nodes, ?: a "
                          "guess from servers in general\n",
                          predict::least_samples));
}

std::string model_words(const json::value& node) {
  const std::string model = text(node, "model");
  if (model.empty()) return "none";
  if (model == "server") return "its model server's";
  if (model == "rated") return "its rated watts";
  const std::string_view guess = flag(node, "idleGuessed") ? ", idle guessed" : "";
  if (model != "node") return fmt::format("that of similar nodes{}", guess);
  const auto noise = number(node, "noisePercent");
  return fmt::format("the node's own, {} % of its loads, ±{} %{}", integer(node, "coveredPercent"),
                     noise ? plain(*noise) : "", guess);
}

}  // namespace binnacle::cli
