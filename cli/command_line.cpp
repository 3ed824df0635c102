#include "cli/command_line.hpp"

#include "cli/doctor/checks.hpp"
#include "cli/lint.hpp"
#include "cli/migrate/migrate.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string_view>

namespace binnacle::cli {
namespace {

void set_up_options(CLI::App& app, arguments& a) {
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.get_formatter()->column_width(32);
  app.add_option("--aggregator", a.flags.aggregators,
                 "URL of an aggregator's ops port; once per replica (https://localhost:9102)")
      ->type_name("URL")
      ->allow_extra_args(false);
  app.add_option("--ca", a.flags.pem.authority,
                 "PEM file of the authority that signed the aggregator's certificate")
      ->type_name("FILE");
  app.add_option("--cert", a.flags.pem.certificate, "PEM file of your client certificate")->type_name("FILE");
  app.add_option("--key", a.flags.pem.key, "PEM file of the certificate's key")->type_name("FILE");
  app.add_option("--token-file", a.flags.token_file,
                 "file with a token of the cluster, in place of a certificate (kubectl create token)")
      ->type_name("FILE");
  auto& cluster = a.flags.cluster;
  app.add_option("--kube-config", cluster.config,
                 "kubeconfig of the cluster, in place of all the above: kubectl port-forward leads to each "
                 "replica (default: as kubectl finds it; in-cluster: this pod's account)")
      ->type_name("FILE");
  app.add_option("--kube-context", cluster.context, "the same; context of the kubeconfig (its current one)")
      ->type_name("NAME");
  app.add_option("--kube-namespace", cluster.name_space, "the same; the chart's namespace (binnacle)")
      ->type_name("NAME");
  app.add_option("--settings", a.settings_file,
                 "file with defaults for the options above (~/.config/binnacle/cli.yaml)")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "-o,--output",
         [&a](const std::string& form) { a.output = form == "json" ? output_form::json : output_form::text; },
         "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORM");
  app.footer(
      "The variables BINNACLE_AGGREGATOR (comma-separated), BINNACLE_CA, BINNACLE_CERT, BINNACLE_KEY and "
      "BINNACLE_TOKEN_FILE replace the options.\nExit status: 0 all right, 1 something is wrong (no answer, "
      "no such decision, "
      "errors in a policy), 2 wrong usage.\nExample: binnacle top --aggregator https://localhost:9102 --ca "
      "pki/server-ca.crt --cert pki/client-cli.crt --key pki/client-cli.key");
  app.set_version_flag("--version", "binnacle " BINNACLE_VERSION, "the version of this command");
}

void set_up_status(CLI::App& app, arguments& a, action& chosen) {
  auto* status =
      app.add_subcommand("status", "the aggregator at a glance: nodes, policies, listeners, certificates");
  status->add_option("--nodes", a.status.nodes, "exit status 1 unless at least N nodes are connected")
      ->type_name("N");
  status->footer("Example: binnacle status -o json");
  status->callback([&] {
    chosen = [&](const connection& c, const terminal& t) { return status_command(c, a.status, t); };
  });
}

void set_up_top(CLI::App& app, arguments& a, action& chosen) {
  auto* top = app.add_subcommand(
      "top",
      "nodes by power, live, on the whole screen: watts, temperature and CPU with their ages, every policy's "
      "verdict; ? shows the keys");
  top->add_option("--metric", a.top.metrics, "one more column; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  top->add_flag("--once", a.top.once, "print one table and end, as it does when its output is no terminal");
  top->footer("Example: binnacle top --metric os_memory_available_bytes");
  top->callback(
      [&] { chosen = [&](const connection& c, const terminal& t) { return top_command(c, a.top, t); }; });
}

void set_up_dashboard(CLI::App& app, arguments& a, action& chosen) {
  auto* dashboard = app.add_subcommand(
      "dashboard", "a page for your browser: the fleet, each node, policies, decisions and health, live");
  dashboard->add_option("--port", a.dashboard.port, "the port on 127.0.0.1 (any free one)")
      ->check(CLI::Range(1, 65535))
      ->type_name("PORT");
  dashboard->add_flag("--open", a.dashboard.open, "open the page in this desktop's browser");
  auto& past = a.dashboard.history;
  const std::string set = "History";
  dashboard
      ->add_option("--history", past.url,
                   "your time-series database, with Prometheus' HTTP API, for charts of the past")
      ->type_name("URL")
      ->group(set);
  dashboard
      ->add_option("--history-ca", past.who.pem.authority,
                   "the CA that signed its certificate (this machine's CAs)")
      ->type_name("FILE")
      ->group(set);
  dashboard->add_option("--history-cert", past.who.pem.certificate, "a client certificate for it")
      ->type_name("FILE")
      ->group(set);
  dashboard->add_option("--history-key", past.who.pem.key, "its private key")->type_name("FILE")->group(set);
  dashboard->add_option("--history-user", past.who.user, "a user, whose password is then in the token's file")
      ->type_name("NAME")
      ->group(set);
  dashboard->add_option("--history-token", past.who.token_file, "a file with the token or password")
      ->type_name("FILE")
      ->group(set);
  dashboard
      ->add_option(
          "--history-label", past.where,
          "a label that Binnacle's series have there, if other series have the same names; may be repeated")
      ->type_name("KEY=VALUE")
      ->group(set);
  dashboard
      ->add_option(
          "--history-names", past.names,
          "what our series are called there: remote-write (our names, with the label node), otlp (as "
          "Prometheus names what came by OTLP), otlp-dots (as it came: hw.power)")
      ->type_name("NAMES")
      ->group(set);
  dashboard->footer(
      "The page shows what your certificate or token may read. The link works once, for one page. To run the "
      "command on another machine, use the same port at both ends: ssh -L 8900:127.0.0.1:8900 HOST binnacle "
      "dashboard "
      "--port 8900\n"
      "Example: binnacle dashboard --open");
  dashboard->callback([&] {
    chosen = [&](const connection& c, const terminal& t) {
      return dashboard::dashboard_command(c, a.dashboard, t);
    };
  });
}

void set_up_power(CLI::App& app, arguments& a, action& chosen) {
  auto* power = app.add_subcommand(
      "power",
      "a node's power curve: its watts by load, where the curve comes from, and how far it may be off");
  power->add_option("node", a.power_node, "the node's name")->required();
  power->footer("Example: binnacle power worker-7");
  power->callback([&] {
    chosen = [&](const connection& c, const terminal& t) { return power_command(c, a.power_node, t); };
  });
}

void set_up_what_if(CLI::App& app, arguments& a, action& chosen) {
  auto* what_if =
      app.add_subcommand("what-if", "what more pods would cost in watts, and on which nodes they would run");
  what_if->add_option("--pods", a.what_if.pods, "how many pods, all alike, up to 10000")
      ->required()
      ->check(CLI::Range(1, 10'000))
      ->type_name("N");
  what_if->add_option("--cpu", a.what_if.cpu, "what each pod requests: 4, 500m")
      ->required()
      ->type_name("CPU");
  what_if
      ->add_option("--policy", a.what_if.policy,
                   "the policy with minimizepower (default: the only one that there is)")
      ->type_name("NAMESPACE/NAME");
  what_if->footer(
      "The answer considers CPU, watts and the policy's dontschedule. It does not consider memory, taints, "
      "affinities, and what pods have requested already. Nothing is changed anywhere.\n"
      "Exit status: 0 all pods find room, 1 some do not, or no answer, 2 wrong usage.\n"
      "Example: binnacle what-if --pods 20 --cpu 4");
  what_if->callback([&] {
    chosen = [&](const connection& c, const terminal& t) { return what_if_command(c, a.what_if, t); };
  });
}

void set_up_why(CLI::App& app, arguments& a, action& chosen) {
  auto* why = app.add_subcommand(
      "why", "why a pod was or was not placed: the newest answers that kube-scheduler got about it");
  why->add_option("pod", a.why.pod, "NAME, pod/NAME, NAMESPACE/NAME or a part of it, or the pod's UID")
      ->required();
  why->add_option("-n,--namespace", a.why.name_space, "the pod's namespace (all)")->type_name("NAME");
  why->add_flag("--all", a.why.all, "every answer that is kept, not only the newest");
  why->add_option("--node", a.why.node, "only this node, in the answers about it")->type_name("NAME");
  why->add_option("--policy", a.why.policy, "answers of this policy")->type_name("NAME");
  why->add_flag("--all-nodes", a.why.all_nodes, "every candidate instead of the first 50");
  why->add_option("--limit", a.why.limit, "most answers from each replica (20)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  why->footer("Example: binnacle why default/web-7f9c4 --node worker-3");
  why->callback(
      [&] { chosen = [&](const connection& c, const terminal& t) { return why_command(c, a.why, t); }; });
}

void set_up_policy(CLI::App& app, arguments& a, action& chosen) {
  auto* policy = app.add_subcommand("policy", "policies: check their files, list what is in force");
  policy->require_subcommand(1);
  policy->footer("Example: binnacle policy lint policies/power.yaml");
  auto* lint = policy->add_subcommand(
      "lint", "checks policy files without an aggregator: file:line: field: what is wrong");
  lint->add_option("files", a.policy_files,
                   "YAML files with TASPolicy objects, or folders of them; - is standard input")
      ->required()
      ->type_name("FILE");
  lint->footer("Example: binnacle policy lint policies/*.yaml");
  lint->callback([&] {
    a.use = settings_file_is::unused;
    chosen = [&](const connection&, const terminal& t) { return lint_command(a.policy_files, t); };
  });
  auto* in_force = policy->add_subcommand(
      "list", "the policies in force, the nodes that they concern, and problems with their files");
  in_force->footer("Example: binnacle policy list");
  in_force->callback([&] { chosen = policy_list_command; });
}

void set_up_scheduler_config(CLI::App& app, arguments& a, action& chosen) {
  auto* config = app.add_subcommand(
      "scheduler-config",
      "prints a KubeSchedulerConfiguration that asks Binnacle, or checks whether yours does");
  scheduler_wiring& w = a.scheduler.wiring;
  const auto add = [config](const char* name, auto& to, const char* help, const char* type) {
    config->add_option(name, to, help)->type_name(type)->capture_default_str();
  };
  add("--kubernetes", w.kubernetes, "version of kube-scheduler, from 1.30 on", "VERSION");
  add("--name", w.name, "schedulerName that pods ask for", "NAME");
  add("--url", w.url, "the aggregator's extender port; its certificate must have this host's name", "URL");
  add("--ca-file", w.ca, "CA of the aggregator's certificate, where the scheduler sees it", "FILE");
  add("--cert-file", w.certificate, "the scheduler's client certificate, where the scheduler sees it",
      "FILE");
  add("--key-file", w.key, "the key of that certificate, where the scheduler sees it", "FILE");
  add("--weight", w.weight, "weight of our scores against the scheduler's own plug-ins", "N");
  config
      ->add_option("--percentage-of-nodes", w.percent_of_nodes,
                   "percent of the nodes that the scheduler looks at for a pod; 0: its own choice, a part of "
                   "them above 100 nodes (default: 100; with --patch: what the file says)")
      ->type_name("N");
  add("--timeout", w.timeout, "how long the scheduler waits for an answer", "DURATION");
  config->add_flag("--required", w.required, "place no pod while no aggregator answers");
  auto* patch =
      config->add_option("--patch", a.scheduler.patch,
                         "print this KubeSchedulerConfiguration with our extender in it; - is standard "
                         "input");
  patch->type_name("FILE");
  config
      ->add_option("--verify", a.scheduler.verify,
                   "check this KubeSchedulerConfiguration by calling the aggregator as the scheduler does: "
                   "name, TLS, a filter call, the managed resource; give --ca, --cert and --key if the "
                   "files that it names are elsewhere on this machine")
      ->type_name("FILE")
      ->excludes(patch);
  config->footer("Example: binnacle scheduler-config --kubernetes 1.34 > scheduler.yaml");
  config->callback([&] {
    if (a.scheduler.verify.empty()) a.use = settings_file_is::unused;
    a.is_led_by_cluster = false;
    chosen = [&](const connection& c, const terminal& t) {
      return scheduler_config_command(c, a.scheduler, t);
    };
  });
}

void set_up_doctor(CLI::App& app, arguments& a, action& chosen) {
  auto* doctor = app.add_subcommand(
      "doctor", "finds what is wrong, as seen from here: this machine, its agent, certificates, the cluster");
  std::string names = "only these checks:";
  for (const auto& c : doctor::checks()) names += fmt::format("\n{:<13} {}", c.name, c.summary);
  doctor->add_option("checks", a.doctor.only, names)->type_name("CHECK");
  doctor
      ->add_option(
          "--agent-config", a.doctor.agent_config,
          "the agent's settings (default: those of the agent that runs here, else /etc/binnacle/agent.yaml)")
      ->type_name("FILE");
  doctor
      ->add_option("--scheduler-config", a.doctor.scheduler_config,
                   "KubeSchedulerConfiguration: the extender is called as this file says")
      ->type_name("FILE");
  doctor
      ->add_option("--extender", a.doctor.extenders,
                   "the address that kube-scheduler calls, if there is no such file (default: what each "
                   "aggregator says)")
      ->type_name("URL")
      ->allow_extra_args(false);
  doctor
      ->add_option("--aggregator-account", a.doctor.account,
                   "the aggregator's service account (binnacle/binnacle-aggregator)")
      ->type_name("NAMESPACE/NAME");
  doctor->add_option("--timeout", a.doctor.timeout_s, "seconds to wait for each peer (5)")
      ->check(CLI::Range(1, 300))
      ->type_name("N");
  doctor->footer(
      "Exit status: 0 no failure (there may be warnings), 1 a failure, 2 wrong usage. A check that cannot be "
      "made from here says so and does not count as a failure.\nExample: binnacle doctor --kube-config "
      "~/.kube/config");
  doctor->callback([&] {
    a.use = settings_file_is::wanted;
    a.is_led_by_cluster = false;
    chosen = [&](const connection& c, const terminal& t) { return doctor::doctor_command(c, a.doctor, t); };
  });
}

void set_up_migrate(CLI::App& app, arguments& a, action& chosen) {
  auto* migrate = app.add_subcommand(
      "migrate",
      "turns manifests of Intel TAS, collectd and Prometheus, or of WAO, into values for the Helm chart");
  migrate->add_option("files", a.manifests, "manifests (YAML or JSON); - is standard input")
      ->required()
      ->type_name("FILE");
  migrate->footer(
      "The values go to standard output. What became of every setting, and policies to apply, go to standard "
      "error. "
      "Nothing is changed anywhere.\nExample: kubectl get -n telemetry-aware-scheduling "
      "deploy,svc,secret,cm,taspolicies -o yaml | binnacle migrate - > values.yaml");
  migrate->callback([&] {
    a.use = settings_file_is::unused;
    chosen = [&](const connection&, const terminal& t) { return migrate_command(a.manifests, t); };
  });
}

void set_up_version(CLI::App& app, arguments& a, action& chosen) {
  app.add_subcommand("version", "the version of this command")->callback([&] {
    a.use = settings_file_is::unused;
    chosen = [](const connection&, const terminal& t) {
      t.out << (t.json ? "{\"version\":\"" BINNACLE_VERSION "\"}\n" : "binnacle " BINNACLE_VERSION "\n");
      return static_cast<int>(exit_ok);
    };
  });
}

void set_up_help(CLI::App& app, arguments& a, action& chosen) {
  auto* help = app.add_subcommand("help", "help about a subcommand");
  help->add_option("subcommand", a.help_about);
  help->footer("Example: binnacle help why");
  help->callback([&] {
    a.use = settings_file_is::unused;
    chosen = [&](const connection&, const terminal& t) {
      CLI::App* about = &app;
      std::string before;
      for (const std::string& name : a.help_about) {
        const auto found =
            about->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
        about = found.empty() ? nullptr : found.front();
        if (about == nullptr) {
          t.err << "binnacle: there is no subcommand '" << name << "'\n";
          return static_cast<int>(exit_usage);
        }
        before += (before.empty() ? "" : " ") + about->get_parent()->get_name();
      }
      t.out << about->help(before);
      return static_cast<int>(exit_ok);
    };
  });
}

/// Puts the name by which the program was called into the examples: `kubectl binnacle` or `binnacle`.
void spell_examples(CLI::App& app, const std::string& name) {
  std::string footer = app.get_footer();
  const std::string_view plain = "Example: binnacle ";
  if (const auto at = footer.find(plain); at != std::string::npos)
    app.footer(footer.replace(at, plain.size(), "Example: " + name + " "));
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) spell_examples(*sub, name);
}

}  // namespace

void set_up(CLI::App& app, arguments& a, action& chosen) {
  set_up_options(app, a);
  for (const auto add :
       {set_up_status, set_up_top, set_up_dashboard, set_up_power, set_up_what_if, set_up_why, set_up_policy,
        set_up_scheduler_config, set_up_doctor, set_up_migrate, set_up_version, set_up_help})
    add(app, a, chosen);
  spell_examples(app, app.get_name());
}

}  // namespace binnacle::cli
