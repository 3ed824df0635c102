#include "aggregator/config.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace binnacle;
using namespace binnacle::aggregator;

namespace {

TEST_SUITE("aggregator/config") {
  TEST_CASE("the printed file is one that --config takes") {
    settings s;
    auto spec = bind(s);
    support::temp_folder folder;
    folder.write("printed.yaml", spec.commented_defaults());
    const auto file = folder / "printed.yaml";
    const char* const flags[] = {"binnacle-aggregator", "--config", file.c_str()};
    std::ostringstream out;
    const auto done = spec.parse(3, flags, out);
    CHECK_MESSAGE(done.has_value(), done.error().message);
  }

  TEST_CASE("one port for two things is refused by both names") {
    support::temp_folder folder;
    settings s;
    s.cert = s.key = s.agents_ca = s.clients_ca = "x.pem";
    s.policies = folder.path();
    CHECK(validate(s).has_value());
    s.ops_port = s.extender_port;
    const auto refused = validate(s);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message == "--extender-port and --ops-port are both 9001: give each its own port");
    s.ops_port = s.extender_port = 0;  // any free one
    CHECK(validate(s).has_value());
  }
}

}  // namespace
