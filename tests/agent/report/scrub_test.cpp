#include "agent/report/scrub.hpp"

#include <doctest/doctest.h>

#include <string>

namespace scrub_test {

using binnacle::agent::scrubbed;

TEST_SUITE_BEGIN("agent/report/scrub");

TEST_CASE("addresses of every kind are left out") {
  struct row {
    std::string text, clean;
  };
  for (const row& r : {
           row{"34:88:5d:01:02:03", "(address)"},
           {"hid_34_88_5D_01_02_03_battery", "hid_(address)_battery"},
           {"at 34-88-5d-01-02-03.", "at (address)."},
           {"00:11:22:33:44:55:66:77", "(address)"},
           {"enx34885d010203 is up", "(address) is up"},
           {"10.0.0.7", "(address)"},
           {"http://192.168.1.20:9100/metrics", "http://(address):9100/metrics"},
           {"[fd00::5]:77", "[(address)]:77"},
           {"fe80::1", "(address)"},
           {"2001:db8:0:1:2:3:4:5", "(address)"},
       }) {
    CAPTURE(r.text);
    CHECK(scrubbed(r.text, {}) == r.clean);
  }
}

TEST_CASE("what only looks like one stays: places of devices, versions, names of events") {
  for (const std::string text :
       {"0000:00:18.3", "0003:046D:4069.0005", "0:0:0:0", "6.1.0-18-amd64", "1.2.3.4.5", "300.1.2.3",
        "12:30:45", "::", "rapl::RAPL_ENERGY_PKG", "cafe::EVENT", "event=0x05,umask=0xcf", "config:0-7,32-35",
        "0-3,8", "enxyz", "2.3283064365386962890625e-10", ""}) {
    CAPTURE(text);
    CHECK(scrubbed(text, {"node7"}) == text);
  }
}

TEST_CASE("the machine's name is left out as a word, in any case of letters") {
  CHECK(scrubbed("Node7: node7.example, node70, xnode7", {"node7.example", "node7"}) ==
        "(name): (name), node70, xnode7");
  CHECK(scrubbed("vm.max_map_count", {"vm", ""}) == "vm.max_map_count");
}

TEST_CASE("what a terminal would obey is not passed on") {
  CHECK(scrubbed("a\x1b[2Jb\xff", {}) == "a?[2Jb?");
}

TEST_SUITE_END();

}  // namespace scrub_test
