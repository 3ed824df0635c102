// Runs scripts/pki as a user does, and loads the files that it writes as the daemons do.
#include "tests/support/net/pki.hpp"

#include "common/tls/context.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace pki_test {

namespace {

using namespace binnacle;

int pki(const std::string& arguments) {
  return std::system(
      (std::string(BINNACLE_SOURCE_ROOT "/scripts/pki ") + arguments + " >/dev/null 2>&1").c_str());
}

bool loads(tls::role side, const tls::files& pem) {
  tls::options o;
  o.side = side;
  o.pem = pem;
  return tls::context::load(o).has_value();
}

TEST_SUITE("scripts/pki") {
  TEST_CASE("what it writes loads, keys are private, and a second run keeps everything") {
    support::temp_folder dir;
    const std::string there = dir / "pki";
    REQUIRE(pki(there + " --node n1 --node n2 --server server,binnacle.lab,10.0.0.5 --fleet sim:60") == 0);
    const auto file = [&](const std::string& name) { return there + "/" + name; };
    CHECK(loads(tls::role::server, {file("server.crt"), file("server.key"), file("agents-ca.crt")}));
    for (const std::string name :
         {"node-n1", "node-n2", "client-scheduler", "client-cli", "fleet-sim-0", "fleet-sim-1"}) {
      CAPTURE(name);
      CHECK(loads(tls::role::client, {file(name + ".crt"), file(name + ".key"), file("server-ca.crt")}));
      struct stat s {};
      REQUIRE(::stat(file(name + ".key").c_str(), &s) == 0);
      CHECK((s.st_mode & 0777) == 0600);
    }
    const auto before = std::filesystem::last_write_time(file("server.crt"));
    REQUIRE(pki(there + " --node n1") == 0);
    CHECK(std::filesystem::last_write_time(file("server.crt")) == before);
  }

  // The unit of the packages hides private/ from an agent.
  TEST_CASE("each key lies in private/, also one that an earlier version left beside its certificate") {
    namespace fs = std::filesystem;
    support::temp_folder dir;
    const std::string there = dir / "pki";
    REQUIRE(pki(there + " --node n1 --fleet sim:1") == 0);
    const std::vector<std::string> names{"agents-ca", "clients-ca", "server-ca",        "server",
                                         "node-n1",   "client-cli", "client-scheduler", "fleet-sim-0"};
    const auto beside = [&](const std::string& name) { return there + "/" + name + ".key"; };
    for (const auto& name : names) {
      CAPTURE(name);
      REQUIRE(fs::is_symlink(beside(name)));
      CHECK(fs::read_symlink(beside(name)) == "private/" + name + ".key");
      fs::rename(there + "/private/" + name + ".key", beside(name));
    }
    const auto certificate = fs::last_write_time(there + "/server.crt");
    const auto key = fs::last_write_time(beside("server"));
    fs::permissions(beside("server"), fs::perms(0640));
    REQUIRE(pki(there + " --node n1 --fleet sim:1") == 0);
    for (const auto& name : names) {
      CAPTURE(name);
      REQUIRE(fs::is_symlink(beside(name)));
      CHECK(fs::is_regular_file(there + "/private/" + name + ".key"));
    }
    CHECK(fs::last_write_time(there + "/server.crt") == certificate);
    CHECK(fs::last_write_time(beside("server")) == key);
    CHECK(fs::status(beside("server")).permissions() == fs::perms(0640));
  }

  TEST_CASE("nonsense is refused") {
    support::temp_folder dir;
    const std::string there = dir / "pki";
    for (const char* arguments : {"", " --days 0", " --days x", " --node 'a b'", " --node ../x", " --fleet x",
                                  " --fleet x:0", " --frobnicate", " --node", " two folders"}) {
      CAPTURE(arguments);
      CHECK(pki((arguments[0] == '\0' ? "" : there) + arguments) != 0);
    }
    CHECK_FALSE(std::filesystem::exists(there));
  }
}

}  // namespace

}  // namespace pki_test
