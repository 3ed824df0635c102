#include "agent/privileges.hpp"

#include "agent/source_list.hpp"
#include "agent/sources/bmc/bmc_kind.hpp"
#include "agent/sources/textfile/textfile_kind.hpp"
#include "tests/agent/parsed_kind.hpp"
#include "tests/support/machine/powercap_tree.hpp"
#include "tests/support/no_file_capabilities.hpp"
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

privileges needed(const settings& s) { return needed_privileges(s, all_source_kinds()); }

// What the textfile source alone needs for this folder.
privileges needed_for_textfiles(const settings& s, const std::string& folder) {
  source_kinds kinds;
  kinds.push_back(parsed_kind<textfile_kind>({"--textfile-directory", folder.c_str()}, s));
  return needed_privileges(s, kinds);
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
  CHECK(needed(quiet()).needed == 0);
  CHECK(needed(quiet()).reasons.empty());
}

TEST_CASE("the counter of energy that its owner may read needs nothing of its owner") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::xeon_two_sockets());
  restrict_energy(sys.path());
  auto s = quiet();
  s.sources = {"rapl"};
  s.sys_root = sys.path();
  CHECK(needed(s).needed == 0);
}

TEST_CASE(
    "a file that the user may not read needs CAP_DAC_READ_SEARCH, where there is such a thing to keep") {
  const bool has_it = has_one_of(file_capabilities);
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
  }
  const auto before = effective_capabilities();
  const auto found = s.reads("textfile") ? needed_for_textfiles(s, folder.path()) : needed(s);
  CHECK(found.needed == (has_it ? read_search : 0));
  CHECK(found.reasons.size() == (has_it ? 1 : 0));
  CHECK(effective_capabilities() == before);
}

TEST_CASE("the BMC's password is no reason to keep a capability: the helper that reads it has none") {
  temp_folder folder;
  folder.write("bmc", "secret");
  lock(folder / "bmc");
  auto s = quiet();
  s.sources = {"bmc"};
  const auto credentials = folder / "bmc";
  source_kinds kinds;
  kinds.push_back(
      parsed_kind<bmc_kind>({"--bmc-host", "10.0.0.7", "--bmc-credentials-file", credentials.c_str()}, s));
  CHECK(needed_privileges(s, kinds).needed == 0);
}

TEST_CASE("what a user's link among the metrics leads to is no reason to keep a capability") {
  temp_folder folder, elsewhere;
  elsewhere.write("secret", "x 1\n");
  lock(elsewhere / "secret");
  std::filesystem::create_symlink(elsewhere / "secret", folder / "a.prom");
  auto s = quiet();
  s.sources = {"textfile"};
  const bool has_it = has_one_of(file_capabilities);
  if (::geteuid() == 0) {
    CHECK(needed_for_textfiles(s, folder.path()).needed == (has_it ? read_search : 0));  // root's link
  }
  if (has_one_of(one_capability(CAP_CHOWN))) {
    REQUIRE(::lchown((folder / "a.prom").c_str(), 65'534, 65'534) == 0);
  }
  CHECK(needed_for_textfiles(s, folder.path()).needed == 0);
}

TEST_CASE("counters of the CPU need CAP_PERFMON, a port below 1024 CAP_NET_BIND_SERVICE") {
  auto s = quiet();
  s.sources = {"pmu"};
  CHECK(needed(s).needed == one_capability(CAP_PERFMON));
  s = quiet();
  s.listen = "127.0.0.1:443";
  CHECK(needed(s).needed == one_capability(CAP_NET_BIND_SERVICE));
  CHECK(needed(s).reasons.at(0) == "CAP_NET_BIND_SERVICE for port 443");
  s.listen = "127.0.0.1:0";
  CHECK(needed(s).needed == 0);
}

TEST_SUITE_END();

}  // namespace privileges_test
