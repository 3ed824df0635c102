#include "agent/ipmi/protocol/protocol.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace binnacle;
using namespace binnacle::ipmi;

namespace {

std::string_view without_feed(const std::string& line) {
  REQUIRE(line.back() == '\n');
  const auto text = std::string_view(line).substr(0, line.size() - 1);
  REQUIRE(text.find('\n') == text.npos);
  REQUIRE(text.size() <= max_line);
  return text;
}

template <class Message>
Message there_and_back(const Message& m) {
  const auto line = encode(from_helper(m));
  CAPTURE(line);
  const auto read = decode_from_helper(without_feed(line));
  REQUIRE(read.has_value());
  REQUIRE(std::holds_alternative<Message>(*read));
  // If the decoded message is encoded again, the line is the same.
  CHECK(encode(*read) == line);
  return std::get<Message>(*read);
}

template <class Message>
Message to_helper_and_back(const Message& m) {
  const auto line = encode(from_agent(m));
  CAPTURE(line);
  const auto read = decode_from_agent(without_feed(line));
  REQUIRE(read.has_value());
  REQUIRE(std::holds_alternative<Message>(*read));
  CHECK(encode(*read) == line);
  return std::get<Message>(*read);
}

std::string refused(std::string_view line) {
  const auto read = decode_from_helper(line);
  REQUIRE(read.has_error());
  CHECK(read.error().code == errc::protocol);
  return read.error().message;
}

sensor a_sensor() {
  sensor s;
  s.key = "20.0.1a";
  s.name = "Inlet \"Temp\" µ";
  s.entity = "air inlet";
  s.entity_id = 0x40;
  s.instance = 1;
  s.number = 0x1a;
  s.record = 65'535;
  s.kind = sensor_kind::temperature;
  s.unit = "celsius";
  s.role = sensor_role::inlet;
  s.limits.upper_critical = 45.5;
  s.limits.lower_critical = -7;
  return s;
}

}  // namespace

TEST_SUITE_BEGIN("agent/ipmi/protocol");

TEST_CASE("every message of the helper reads back as it was written") {
  const auto h = there_and_back(hello{1, "0.1.0", 15'000});
  CHECK(h.version == "0.1.0");
  CHECK(h.quiet_ms == 15'000);

  bmc b{"10.0.0.7:623", "a1234567-89ab-cdef-a123-456789abcdef", "Acme", 4753, 3842, "9.08", "2.0", 12, true};
  const auto bmc_read = there_and_back(b);
  CHECK(bmc_read.guid == b.guid);
  CHECK(bmc_read.dcmi);

  const auto s = there_and_back(a_sensor());
  CHECK(s.key == "20.0.1a");
  CHECK(s.name == "Inlet \"Temp\" µ");
  CHECK(s.kind == sensor_kind::temperature);
  CHECK(s.role == sensor_role::inlet);
  CHECK(s.limits == a_sensor().limits);

  CHECK(there_and_back(inventory_end{12}).count == 12);
  CHECK(there_and_back(plan{{{"20.0.1", 1000}, {"dcmi.power", 250}}}).period_ms.at("dcmi.power") == 250);

  reading value{.key = "dcmi.power",
                .value = 417.25,
                .over = statistics{380.5, 400, 450, 60'000},
                .read_at_ns = 1'234'567'890'123,
                .took_us = 44};
  const auto v = there_and_back(value);
  CHECK(v.value == 417.25);
  CHECK(v.read_at_ns == 1'234'567'890'123);
  CHECK(v.over == value.over);
  CHECK_FALSE(v.state);

  reading state{.key = "20.0.b", .state = 0x80000003, .words = {"Presence detected"}};
  CHECK(there_and_back(state).state == 0x80000003);
  CHECK(there_and_back(state).words == std::vector<std::string>{"Presence detected"});

  const auto absent = there_and_back(reading{.key = "20.0.4", .reason = absence::no_data});
  CHECK(absent.reason == absence::no_data);
  CHECK_FALSE(absent.value);

  CHECK(there_and_back(status{false, "no", true}).permanent);
  const auto st = there_and_back(stats{7, 6, 5, 4, 3, 0.042});
  CHECK(st.sdr_rebuilds == 3);
  CHECK(st.busy_ratio == 0.042);
  CHECK(there_and_back(pong{std::numeric_limits<std::uint64_t>::max()}).number ==
        std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("every message of the agent reads back as it was written") {
  wanted_sensors s;
  s.defaults = false;
  s.include = {"PSU?*"};
  s.exclude = {"*Spare*", "20.0.1"};
  s.roles = {{"MB_AIR*", sensor_role::inlet}};
  s.period_ms = 2'000;
  s.budget_ratio = 0.02;
  const auto read = to_helper_and_back(s);
  CHECK_FALSE(read.defaults);
  CHECK(read.include == s.include);
  CHECK(read.exclude == s.exclude);
  REQUIRE(read.roles.size() == 1);
  CHECK(read.roles[0].pattern == "MB_AIR*");
  CHECK(read.roles[0].role == sensor_role::inlet);
  CHECK(read.period_ms == 2'000);
  CHECK(read.budget_ratio == 0.02);
  CHECK(to_helper_and_back(interest{{{"20.0.1", 200}}}).period_ms.at("20.0.1") == 200);
  CHECK(to_helper_and_back(ping{9}).number == 9);
}

TEST_CASE("a number is written as it would be written after it was read") {
  // Boost.JSON reads numbers of many digits with an error in the last bit.
  for (const double d : {0.1 + 0.2, 1.0 / 3, 2.3111111111111111e120, -9.87654321987654321e-290, max_number,
                         -0.0, 5e-324, 61.0, 9007199254740993.0}) {
    CAPTURE(d);
    const auto said = encode(from_helper(reading{.key = "a", .value = d}));
    const auto read = decode_from_helper(without_feed(said));
    REQUIRE(read.has_value());
    CHECK(*std::get<reading>(*read).value == doctest::Approx(d).epsilon(1e-14));
    CHECK(encode(*read) == said);
  }
}

TEST_CASE("a reading that is no number, or too large for one, is absent, and nothing else is invented") {
  CHECK(
      refused(R"({"type":"reading","key":"a","value":2e300,"read_at_ns":1,"took_us":1})").find("\"value\"") !=
      std::string::npos);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(), 2 * max_number}) {
    const auto read =
        decode_from_helper(without_feed(encode(from_helper(reading{.key = "a", .value = bad}))));
    REQUIRE(read.has_value());
    CHECK(std::get<reading>(*read).reason == absence::out_of_range);
    CHECK_FALSE(std::get<reading>(*read).value);
  }
  CHECK(refused(R"({"type":"reading","key":"a","read_at_ns":1,"took_us":1})").find("\"reason\"") !=
        std::string::npos);
  CHECK(refused(R"({"type":"reading","key":"a","value":1,"reason":"no_data","read_at_ns":1,"took_us":1})")
            .find("\"reason\"") != std::string::npos);
}

TEST_CASE("the largest messages fit into a line") {
  plan most;
  for (std::size_t i = 0; i < max_sensors + 5; ++i) {
    auto key = std::to_string(i);
    key.insert(0, max_key - key.size(), 'k');
    most.period_ms[key] = std::numeric_limits<std::uint32_t>::max();
  }
  CHECK(there_and_back(most).period_ms.size() == max_sensors);

  wanted_sensors s;
  const std::string pattern(max_pattern, '\x01');  // six bytes each when escaped
  s.include.assign(max_patterns + 1, pattern);
  s.exclude = s.include;
  s.roles.assign(max_patterns + 1, {pattern, sensor_role::system_power});
  CHECK(to_helper_and_back(s).roles.size() == max_patterns);

  reading r{.key = "a", .state = 1};
  r.words.assign(40, std::string(200, 'w'));
  CHECK(there_and_back(r).words.size() == max_words);
}

TEST_CASE("what a later version says is no error") {
  const auto read = decode_from_helper(R"({"type":"weather","sun":true})");
  REQUIRE(read.has_value());
  CHECK(std::get<unknown>(*read).type == "weather");
  CHECK(std::get<pong>(decode_from_helper(R"({"type":"pong","number":3,"more":{}})").value()).number == 3);

  auto line = encode(from_helper(a_sensor()));
  line.replace(line.find("temperature"), 11, "humidity");
  line.replace(line.find("inlet\","), 5, "outside");
  const auto s = std::get<sensor>(decode_from_helper(without_feed(line)).value());
  CHECK(s.kind == sensor_kind::other);
  CHECK(std::get<reading>(
            decode_from_helper(R"({"type":"reading","key":"a","reason":"mood","read_at_ns":1,"took_us":1})")
                .value())
            .reason == absence::other);
}

TEST_CASE("text of a BMC that is not UTF-8 or far too long arrives clean") {
  sensor s = a_sensor();
  s.name = "Fan\xff\n1";
  CHECK(std::get<sensor>(decode_from_helper(without_feed(encode(from_helper(s)))).value()).name ==
        "Fan\xef\xbf\xbd\n1");
  s.name.assign(5'000, 'n');
  CHECK(there_and_back(s).name.size() == max_text);
}

TEST_CASE("a rule for a role is split at its last =, and text that is no rule is refused in one sentence") {
  CHECK(parse_role_rule("P?=Diode=cpu").value().pattern == "P?=Diode");
  CHECK(parse_role_rule("P?=Diode=cpu").value().role == sensor_role::cpu);
  CHECK(parse_role_rule("CPU0*=none").value().role == sensor_role::none);
  const auto longest = std::string(max_pattern, 'x');
  CHECK(parse_role_rule(longest + "=inlet").value().pattern == longest);
  for (const auto& wrong : {std::string("inlet"), std::string("=inlet"), std::string("Ambient=outlet"),
                            std::string("none"), longest + "x=inlet"}) {
    CAPTURE(wrong);
    const auto refused = parse_role_rule(wrong);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::invalid_input);
    CHECK(refused.error().message.find("\"" + wrong + "\" gives no role: write PATTERN=inlet") == 0);
  }
}

TEST_CASE("a pattern fits a sensor's name or its key, without regard to case") {
  sensor s;
  s.key = "20.0.01";
  s.name = "Inlet Temp";
  CHECK(fits("inlet*", s));
  CHECK(fits("20.0.??", s));
  CHECK_FALSE(fits("Inlet", s));
}

TEST_CASE("a wrong line is refused in one sentence that names message and field") {
  CHECK(refused("") == "a line that is not JSON: incomplete JSON");
  CHECK(refused("nonsense").find("a line that is not JSON") == 0);
  CHECK(refused("[1]").find("a line without a type") == 0);
  CHECK(refused(R"({"type":7})").find("a line without a type") == 0);
  CHECK(refused(R"({"type":"pong"})") == "message \"pong\": field \"number\" is missing");
  CHECK(refused(R"({"type":"pong","number":-1})") ==
        "message \"pong\": field \"number\" is not a number in its range");
  CHECK(refused(R"({"type":"pong","number":1.5})") ==
        "message \"pong\": field \"number\" is not a number in its range");
  CHECK(refused(R"({"type":"status","ok":1,"message":"","permanent":false})") ==
        "message \"status\": field \"ok\" is neither true nor false");
  CHECK(refused(R"({"type":"reading","key":"A B","value":1,"read_at_ns":1,"took_us":1})") ==
        "message \"reading\": field \"key\" is none");
  CHECK(
      refused(
          R"({"type":"reading","key":"a","value":1,"minimum":1,"maximum":2,"window_ms":5,"read_at_ns":1,"took_us":1})") ==
      "message \"reading\": field \"window_ms\" is there without minimum, average and maximum, or is 0");
  CHECK(refused(R"({"type":"reading","key":"a","value":1,"read_at_ns":-1,"took_us":1})") ==
        "message \"reading\": field \"read_at_ns\" is before this machine's start");
  CHECK(refused(R"({"type":"plan","period_ms":{"a":-1}})") ==
        "message \"plan\": field \"period_ms\" is not a number in its range");
  CHECK(refused(R"({"type":"plan","period_ms":[]})") ==
        "message \"plan\": field \"period_ms\" is not an object");
  CHECK(refused(R"({"type":[[[[[1]]]]]})").find("a line that is not JSON") == 0);
  CHECK(decode_from_agent(
            R"({"type":"select","defaults":true,"include":[1],"exclude":[],"roles":[],"period_ms":1})")
            .error()
            .message == "message \"select\": field \"include\" is not text");
  CHECK(
      decode_from_agent(
          R"({"type":"select","defaults":true,"include":[],"exclude":[],"roles":[],"period_ms":1,"budget_ratio":2})")
          .error()
          .message == "message \"select\": field \"budget_ratio\" is not within 0 and 1");
}

TEST_CASE("a message cut anywhere is an error, never a crash or half a message") {
  const auto line = encode(from_helper(a_sensor()));
  for (std::size_t length = 0; length + 1 < line.size(); ++length) {
    CAPTURE(length);
    CHECK(decode_from_helper(std::string_view(line).substr(0, length)).has_error());
  }
}

TEST_SUITE_END();
