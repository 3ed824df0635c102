#include "cli/bridge/bridge.hpp"
#include "cli/command_line.hpp"
#include "cli/progress.hpp"
#include "cli/terminal_text.hpp"
#include "common/system/read_file.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string_view>
#include <unistd.h>

namespace binnacle::cli {
namespace {

constexpr std::string_view plugin_name = "kubectl-binnacle";

/// ~/.config/binnacle/cli.yaml, or the same below XDG_CONFIG_HOME; empty if there is no home folder.
std::string default_settings_file() {
  if (const char* base = std::getenv("XDG_CONFIG_HOME"); base != nullptr && *base != '\0')
    return std::string(base) + "/binnacle/cli.yaml";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/.config/binnacle/cli.yaml";
  return {};
}

/// Reads the settings file. The default file may be missing; a named one may not.
result<connection> read_settings(const std::string& named) {
  const std::string path = named.empty() ? default_settings_file() : named;
  const auto text = read_file(path, 1u << 20);
  if (!text) {
    if (named.empty()) return connection{};
    return error{text.error().code,
                 fmt::format("the settings file {} cannot be read: {}", path, text.error().message)};
  }
  return parse_settings(*text, path);
}

/// What is wrong with the command line. CLI11's own message for a repeated option is written for developers,
/// so it is replaced.
std::string sentence_of(const CLI::ParseError& e) {
  const std::string said = e.what();
  const auto at = said.find(": At Most 1 required");
  return at == said.npos ? said : said.substr(0, at) + " is given twice: give it once";
}

/// As kubectl's plug-in, the command reaches the aggregators through kubectl's cluster, unless an aggregator
/// is named.
cluster_access::use use_of_cluster(const cluster_access& flags, std::string_view name) {
  using use = cluster_access::use;
  if (!flags.config.empty() || !flags.context.empty() || !flags.name_space.empty()) return use::always;
  return name == plugin_name ? use::unless_named : use::never;
}

result<std::unique_ptr<bridge::way>> led_by(const connection& to, const terminal& on) {
  progress shown(on, "binnacle", 1);
  shown.step("asking kubectl for the way to the aggregators");
  return bridge::way::open(to, isatty(STDERR_FILENO) == 1 ? &on.err : nullptr);
}

int run(int argc, char** argv) {
  const std::string name = std::filesystem::path(argc > 0 ? argv[0] : "binnacle").filename();
  // kubectl finds a plug-in by the file name kubectl-binnacle; people type it with a blank.
  CLI::App app("What Binnacle knows about nodes, policies and placements.",
               name == plugin_name ? "kubectl binnacle" : "binnacle");
  arguments a;
  action chosen;
  set_up(app, a, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help
    std::cerr << "binnacle: " << sentence_of(e) << "; see " << app.get_name() << " --help\n";
    return exit_usage;
  }
  if (!chosen) {
    std::cerr << app.help();
    return exit_usage;
  }

  auto file = a.use == settings_file_is::unused ? connection{} : read_settings(a.settings_file);
  if (file.has_error()) {
    std::cerr << "binnacle: " << file.error().message << '\n';
    if (a.use == settings_file_is::needed) return exit_usage;
    file = connection{};
  }
  const bool may_be_led = a.use != settings_file_is::unused && a.is_led_by_cluster;
  const auto how = use_of_cluster(a.flags.cluster, name);
  if (may_be_led) {
    a.flags.cluster.how = how;
  } else if (how != cluster_access::use::never) {
    // The doctor asks the cluster, but finds its own way to the aggregators.
    a.flags.cluster.config = kubeconfig_files(a.flags.cluster);
  }
  if (a.flags.cluster.how == cluster_access::use::always && !a.flags.aggregators.empty()) {
    std::cerr << "binnacle: --aggregator and --kube-config are two ways to the same place: give one\n";
    return exit_usage;
  }
  connection to = merged(
      a.flags, [](const char* variable) { return std::getenv(variable); }, *file);
  const bool tty = isatty(STDOUT_FILENO) == 1;
  const paint with{colours_wanted(tty, std::getenv("NO_COLOR"), std::getenv("TERM"))};
  const char* kind = std::getenv("TERM");
  const bool progress = isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
  const terminal on{std::cout, std::cerr, with, a.output == output_form::json, tty, progress};
  std::unique_ptr<bridge::way> way;  // lives as long as the command runs
  if (may_be_led && to.aggregators.empty()) {
    auto opened = led_by(to, on);
    if (opened.has_error()) {
      std::cerr << "binnacle: " << opened.error().message << '\n';
      return exit_problem;
    }
    way = std::move(*opened);
    to = way->to();
  }
  const int status = chosen(to, on);
  std::cout.flush();
  return std::cout ? status : exit_problem;
}

}  // namespace
}  // namespace binnacle::cli

int main(int argc, char** argv) {
  try {
    binnacle::cli::know_characters();
    return binnacle::cli::run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "binnacle: " << e.what() << '\n';
    return binnacle::cli::exit_problem;
  }
}
