// binnacle-sim-bmc: a BMC for demos and for trying binnacle-ipmi by hand, on machines without one.
#include "tests/support/bmc/bmc_sim.hpp"
#include "tests/support/options.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>

int main(int argc, char** argv) {
  std::string root;
  bool with_parent = false;
  const std::string program = "binnacle-sim-bmc";
  binnacle::config_spec spec(
      program,
      "Starts OpenIPMI's ipmi_sim on loopback as a server of two sockets with DCMI, until SIGTERM.\n"
      "Prints \"ready HOST:PORT\", and in ROOT/ makes:\n"
      "  bmc            credentials-file for binnacle-ipmi (an administrator; ipmi_sim gives DCMI to nobody "
      "else)\n"
      "  in-band.env    variables for a program whose /dev/ipmi0 shall be this BMC, or whose ROOT/ipmi0\n"
      "  ipmi0          an empty file, for programs that look whether the device is there\n"
      "  values/        a file for each sensor: echo 44 > ROOT/values/inlet_temp",
      "binnacle-sim-bmc --root /tmp/bmc &\n"
      "  binnacle-ipmi --list --host 127.0.0.1:PORT --credentials-file /tmp/bmc/bmc --privilege admin \\\n"
      "    --cache-folder /tmp/bmc/cache\n"
      "  env $(cat /tmp/bmc/in-band.env) binnacle-ipmi --list --cache-folder /tmp/bmc/cache");
  spec.add("root", root, "folder to work in; made if it is not there");
  spec.add("with-parent", with_parent, "end when the process that started it ends");
  if (const auto status = binnacle::support::read_options(spec, program, argc, argv, {{"root", &root}}))
    return *status;

  if (with_parent) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  try {
    root = std::filesystem::absolute(root).string();
    binnacle::support::bmc_sim sim(binnacle::support::boards::two_sockets(), root);
    sim.write("bmc", std::string("user: ") + binnacle::support::bmc_admin +
                         "\npassword: " + binnacle::support::bmc_admin_password + "\n");
    ::chmod((root + "/bmc").c_str(), 0600);
    std::string variables;
    for (const auto& v : sim.shim_environment()) variables += v + "\n";
    sim.write("in-band.env", variables);
    sim.write("ipmi0", "");
    std::printf("ready %s\n", sim.address().c_str());
    std::fflush(stdout);
    int came = 0;
    ::sigwait(&signals, &came);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "binnacle-sim-bmc: %s\n", e.what());
    return 1;
  }
}
