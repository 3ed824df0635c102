#include "agent/privileges.hpp"

#include "tests/support/powercap_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <linux/capability.h>
#include <unistd.h>

namespace privileges_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;

namespace {

constexpr auto read_search = one_capability(CAP_DAC_READ_SEARCH);

settings quiet() {
  settings s;
  s.sources = {"os"};
  return s;
}

void lock(const std::string& file) { std::filesystem::permissions(file, std::filesystem::perms::none); }

}  // namespace

TEST_SUITE_BEGIN("agent/privileges");

TEST_CASE("capabilities have names") {
  CHECK(names_of(0) == "none");
  CHECK(names_of(one_capability(CAP_PERFMON) | read_search) == "CAP_DAC_READ_SEARCH, CAP_PERFMON");
  CHECK(names_of(one_capability(63)) == "capability 63");
}

TEST_CASE("what the kernel lets everybody read needs nothing") {
  CHECK(needed_privileges(quiet()).needed == 0);
  CHECK(needed_privileges(quiet()).reasons.empty());
}

TEST_CASE("the counter of energy that its owner may read needs nothing of its owner") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::xeon_two_sockets());
  restrict_energy(sys.path());
  auto s = quiet();
  s.sources = {"rapl"};
  s.sys_root = sys.path();
  CHECK(needed_privileges(s).needed == 0);
}

TEST_CASE(
    "a file that the user may not read needs CAP_DAC_READ_SEARCH, where there is such a thing to keep") {
  const bool has_it = (effective_capabilities() & read_search) != 0;
  temp_folder folder;
  auto s = quiet();
  SUBCASE("energy") {
    write_powercap_tree(folder.path(), machines::epyc());
    lock(folder / (zone_folder({0}) + "/energy_uj"));
    s.sources = {"rapl"};
    s.sys_root = folder.path();
  }
  SUBCASE("the private key") {
    folder.write("node.key", "secret");
    lock(folder / "node.key");
    s.key = folder / "node.key";
  }
  SUBCASE("a user's metrics") {
    folder.write("disk.prom", "x 1\n");
    lock(folder / "disk.prom");
    s.sources = {"textfile"};
    s.textfile_directory = folder.path();
  }
  const auto before = effective_capabilities();
  const auto found = needed_privileges(s);
  CHECK(found.needed == (has_it ? read_search : 0));
  CHECK(found.reasons.size() == (has_it ? 1 : 0));
  CHECK(effective_capabilities() == before);
}

TEST_CASE("the BMC's password is no reason to keep a capability: the helper that reads it has none") {
  temp_folder folder;
  folder.write("bmc", "secret");
  lock(folder / "bmc");
  auto s = quiet();
  s.bmc_credentials_file = folder / "bmc";
  CHECK(needed_privileges(s).needed == 0);
}

TEST_CASE("what a user's link among the metrics leads to is no reason to keep a capability") {
  temp_folder folder, elsewhere;
  elsewhere.write("secret", "x 1\n");
  lock(elsewhere / "secret");
  std::filesystem::create_symlink(elsewhere / "secret", folder / "a.prom");
  auto s = quiet();
  s.sources = {"textfile"};
  s.textfile_directory = folder.path();
  const bool has_it = (effective_capabilities() & read_search) != 0;
  if (::geteuid() == 0) {
    CHECK(needed_privileges(s).needed == (has_it ? read_search : 0));  // root's own link
    REQUIRE(::lchown((folder / "a.prom").c_str(), 65'534, 65'534) == 0);
  }
  CHECK(needed_privileges(s).needed == 0);
}

TEST_CASE("counters of the CPU need CAP_PERFMON, a port below 1024 CAP_NET_BIND_SERVICE") {
  auto s = quiet();
  s.sources = {"pmu"};
  CHECK(needed_privileges(s).needed == one_capability(CAP_PERFMON));
  s = quiet();
  s.listen = "127.0.0.1:443";
  CHECK(needed_privileges(s).needed == one_capability(CAP_NET_BIND_SERVICE));
  CHECK(needed_privileges(s).reasons.at(0) == "CAP_NET_BIND_SERVICE for port 443");
  s.listen = "127.0.0.1:0";
  CHECK(needed_privileges(s).needed == 0);
}

TEST_SUITE_END();

}  // namespace privileges_test
