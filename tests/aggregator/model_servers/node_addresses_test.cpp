#include "aggregator/model_servers/node_addresses.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace node_addresses_test {

using namespace binnacle::model_servers;

TEST_SUITE("aggregator/model_servers/node_addresses") {
  TEST_CASE("the first InternalIP of a node is its address, of whatever family, until it has none") {
    node_addresses all;
    const auto told = [&all](const char* addresses) {
      all.changed({"", "n"}, boost::json::parse(addresses).as_object());
    };
    CHECK(all.find("n").empty());
    told(
        R"({"status":{"addresses":[{"type":"Hostname","address":"n"},{"type":"InternalIP","address":"fd00::7"},
             {"type":"InternalIP","address":"10.0.0.7"}]}})");
    CHECK(all.find("n") == "fd00::7");
    told(R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.8"}]}})");
    CHECK(all.find("n") == "10.0.0.8");
    told(R"({"status":{"addresses":[7]}})");
    CHECK(all.find("n").empty());
    told(R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.8"}]}})");
    const std::string large(1'000, '7');
    told((R"({"status":{"addresses":[{"type":"InternalIP","address":")" + large + "\"}]}}").c_str());
    CHECK_MESSAGE(all.find("n").empty(), "no address is so long");
    told(R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.8"}]}})");
    all.gone({"", "n"});
    CHECK(all.find("n").empty());
  }
}

}  // namespace node_addresses_test
