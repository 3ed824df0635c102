#include "agent/uplink/feed.hpp"

#include "common/wire/agent_session.hpp"
#include "common/wire/aggregator_session.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace feed_test {

using namespace binnacle;
using agent::board;

namespace {

TEST_SUITE("agent/uplink/feed") {
  struct fixture {
    board b;
    board::group_ref rapl = b.add_group("rapl", "", std::chrono::seconds(1), std::chrono::seconds(10));
    board::series_ref watts = b.add_series(rapl, "rapl_power_watts", {{"package", "0"}});
    board::series_ref joules =
        b.add_series(rapl, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}});
    agent::send_pace pace;
    agent::feed sent{b, pace};
    wire::batch batch;
  };

  TEST_CASE_FIXTURE(fixture, "the catalog is due first, and again when the set of series changes") {
    CHECK(sent.catalog_due());
    const auto c = sent.announce();
    CHECK_FALSE(sent.catalog_due());
    REQUIRE(c.series.size() == 2);
    CHECK(c.series[0].family == "rapl_power_watts");
    CHECK(c.groups[c.series[0].group].source == "rapl");
    b.add_series(rapl, "rapl_tdp_watts", {{"package", "0"}});
    CHECK(sent.catalog_due());
    CHECK(sent.announce().series.size() == 3);
  }

  TEST_CASE_FIXTURE(fixture, "a removed series leaves no hole in the catalog") {
    b.remove_series(watts);
    const auto c = sent.announce();
    REQUIRE(c.series.size() == 1);
    CHECK(c.series[0].family == "rapl_energy_joules_total");
    b.set(joules, std::int64_t{7});
    sent.fill(batch, true, from_ns(1));
    REQUIRE(batch.values.size() == 1);
    CHECK(batch.values[0].series == 0);
  }

  TEST_CASE_FIXTURE(fixture, "until the next catalog, only what the last one names is sent") {
    const auto exporter = b.add_group("scrape", "x", std::chrono::seconds(1), std::chrono::seconds(10));
    const auto old = b.add_series(exporter, "old_units", {}, 0);
    sent.announce();
    sent.fill(batch, true, from_ns(1));
    b.remove_series(old);
    const auto fresh = b.add_series(exporter, "fresh_units", {}, 0);
    CHECK(fresh == old);  // in the same place
    b.set(fresh, std::int64_t{7});
    b.set(watts, 61.0);
    b.mark_read(rapl, from_ns(2));
    REQUIRE(sent.catalog_due());
    sent.fill(batch, false, from_ns(2));
    REQUIRE(batch.values.size() == 1);
    CHECK(batch.values[0].series == 0);
    CHECK(batch.values[0].mantissa == 610);
    CHECK(batch.absences.empty());
    SUBCASE("a series with another exponent is left out, too") {
      sent.announce();
      sent.fill(batch, true, from_ns(3));
      b.set(fresh, 0.001);
      REQUIRE(sent.catalog_due());
      sent.fill(batch, false, from_ns(4));
      CHECK(batch.values.empty());
    }
  }

  TEST_CASE_FIXTURE(fixture, "a full batch has everything, the next one only what changed") {
    sent.announce();
    b.set(watts, 61.23);
    sent.fill(batch, true, from_ns(1));
    CHECK(batch.full);
    REQUIRE(batch.values.size() == 1);
    CHECK(batch.values[0].mantissa == 612);
    REQUIRE(batch.absences.size() == 1);
    CHECK(batch.absences[0].reason == absence::not_read_yet);
    CHECK_FALSE(sent.batch_due());

    b.set(joules, std::int64_t{100});
    CHECK(sent.batch_due());
    sent.fill(batch, false, from_ns(1));
    REQUIRE(batch.values.size() == 1);
    CHECK(batch.values[0].series == 1);
    CHECK(batch.absences.empty());
  }

  TEST_CASE_FIXTURE(fixture, "a read without a change sends the read time alone") {
    sent.announce();
    sent.fill(batch, true, from_ns(1));
    b.mark_read(rapl, from_ns(5'000'000'000));
    CHECK(sent.batch_due());
    sent.fill(batch, false, from_ns(1));
    CHECK(batch.values.empty());
    REQUIRE(batch.reads.size() == 1);
    CHECK(batch.reads[0].read_at_ns == 5'000'000'000);
  }

  TEST_CASE_FIXTURE(
      fixture, "of values that came while the socket was full the newest goes and the others are counted") {
    sent.announce();
    sent.fill(batch, true, from_ns(1));
    for (int i = 1; i <= 5; ++i) b.set(watts, 60.0 + i);
    sent.fill(batch, false, from_ns(1));
    REQUIRE(batch.values.size() == 1);
    CHECK(batch.values[0].mantissa == 650);
    CHECK(sent.conflated() == 4);
  }

  TEST_CASE_FIXTURE(fixture, "every link gets the sources' health, and again when it changes") {
    b.set_status("rapl", false, "no package");
    CHECK(sent.statuses_due());
    CHECK(sent.take_statuses().size() == 1);
    CHECK_FALSE(sent.statuses_due());
    agent::feed second(b, pace);
    CHECK(second.statuses_due());
    b.set_status("rapl", true, "");
    CHECK(sent.statuses_due());
  }

  struct tight : fixture {
    board::group_ref os = b.add_group("os", "", std::chrono::seconds(1), std::chrono::seconds(10));
    board::series_ref load = b.add_series(os, "os_load1", {});

    // Watts are watched. The budget makes the other series wait for two periods.
    tight() {
      pace = agent::send_pace(100);
      wire::interest wanted;
      wanted.wishes = {{"rapl_power_watts", 200}};
      pace.set_interest(0, wanted);
      pace.review(from_ns(0));
      pace.sent(500, 2500);
      REQUIRE(pace.review(at(20)));
      REQUIRE(pace.doublings(false) == 1);
      REQUIRE(pace.doublings(true) == 0);
    }
    static instant at(double seconds) { return from_ns(static_cast<std::int64_t>(seconds * 1e9)); }
    void read(double when) {
      b.set(watts, when);
      b.set(joules, when);
      b.set(load, when);
      b.mark_read(rapl, at(when));
      b.mark_read(os, at(when));
    }
    // How many groups the next batch has readings of.
    std::size_t reads(double when) {
      read(when);
      return sent.fill(batch, false, at(when)) ? batch.reads.size() : 0;
    }
  };

  TEST_CASE_FIXTURE(tight, "a group that waits is announced with the period that it is sent at") {
    const auto c = sent.announce();
    CHECK(c.groups[0].period_ms == 1000);
    CHECK(c.groups[0].stale_after_ms == 10'000);
    CHECK(c.groups[1].period_ms == 2000);
    CHECK(c.groups[1].stale_after_ms >= 3 * 2000);
    CHECK_FALSE(sent.catalog_due());
    pace.set_interest(0, {});
    CHECK(sent.catalog_due());
    CHECK(sent.announce().groups[0].period_ms == 2000);
  }

  TEST_CASE_FIXTURE(tight,
                    "a period that would be too long for the wire is announced as the longest there is") {
    b.add_series(b.add_group("textfile", "", std::chrono::hours(1000), std::chrono::hours(1000)), "x", {});
    const auto c = sent.announce();
    REQUIRE(c.groups.size() == 3);
    CHECK(c.groups[2].period_ms == std::numeric_limits<std::uint32_t>::max());
    CHECK(c.groups[2].stale_after_ms == std::numeric_limits<std::uint32_t>::max());
  }

  TEST_CASE("what a lost link watched stays watched for as long as the sources keep its wishes") {
    agent::send_pace pace;
    wire::interest wanted;
    wanted.wishes = {{"a", 200}};
    pace.set_interest(0, wanted);
    const instant lost = from_ns(1'000'000'000);
    pace.lost(0, lost);
    pace.review(lost + agent::interest_book::grace - std::chrono::seconds(1));
    CHECK(pace.watched("a"));
    pace.review(lost + agent::interest_book::grace);
    CHECK_FALSE(pace.watched("a"));
  }

  TEST_CASE_FIXTURE(tight, "watched groups go with every reading, the others with every second one") {
    sent.announce();
    read(30);
    REQUIRE(sent.fill(batch, true, at(30)));
    CHECK(batch.reads.size() == 2);
    std::vector<std::size_t> all;
    for (int i = 1; i <= 6; ++i) all.push_back(reads(30 + i));
    CHECK(all == std::vector<std::size_t>{1, 2, 1, 2, 1, 2});
  }

  TEST_CASE_FIXTURE(
      tight, "what waits goes with its newest value and read time, also when a tick comes a little early") {
    sent.announce();
    read(30);
    sent.fill(batch, true, at(30));
    reads(31);
    REQUIRE(reads(31.9) == 2);
    REQUIRE(batch.values.size() == 3);
    CHECK(batch.values[2].mantissa == 3190);
    CHECK(batch.reads[1].read_at_ns == to_ns(at(31.9)));
  }

  TEST_CASE_FIXTURE(tight, "a change of what waits alone sends nothing before its time, and is not lost") {
    sent.announce();
    read(30);
    sent.fill(batch, true, at(30));
    b.set_absent(load, absence::timeout);
    CHECK(sent.batch_due());
    CHECK_FALSE(sent.fill(batch, false, at(31)));
    CHECK_FALSE(sent.batch_due());
    b.mark_read(rapl, at(32));
    REQUIRE(sent.fill(batch, false, at(32)));
    REQUIRE(batch.absences.size() == 1);
    CHECK(batch.absences[0].reason == absence::timeout);
  }

  TEST_CASE_FIXTURE(tight, "watched_share() says which part of a batch is for watched groups") {
    sent.announce();
    read(30);
    sent.fill(batch, true, at(30));
    reads(31);
    CHECK(sent.watched_share() == 1000);
    reads(32);
    CHECK(sent.watched_share() == 600);  // one of two reads and two of three values are watched
  }

  struct crowd : fixture {
    std::vector<board::group_ref> files;
    std::vector<board::series_ref> numbers;

    // Watts are watched. Three files with 200 numbers each are not.
    crowd() {
      wire::interest wanted;
      wanted.wishes = {{"rapl_power_watts", 200}};
      pace.set_interest(0, wanted);
      for (int f = 0; f < 3; ++f) {
        files.push_back(
            b.add_group("textfile", std::to_string(f), std::chrono::seconds(1), std::chrono::seconds(10)));
        for (int i = 0; i < 200; ++i)
          numbers.push_back(
              b.add_series(files.back(), "number", {{"f", std::to_string(f)}, {"i", std::to_string(i)}}));
      }
      sent.announce();
      sent.fill(batch, true, from_ns(1));
    }
    void read_files() {
      ++value;
      for (const auto n : numbers) b.set(n, value);
      for (const auto f : files) b.mark_read(f, from_ns(value));
    }
    // The groups of the next batch, in words. Empty if nothing was due.
    std::string next() {
      std::string out;
      if (!sent.batch_due() || !sent.fill(batch, false, from_ns(value))) return out;
      for (const auto& r : batch.reads) out += static_cast<char>(r.group == 0 ? 'w' : '0' + r.group);
      return out;
    }
    void read_watts() {
      b.set(watts, std::int64_t{++value});
      b.mark_read(rapl, from_ns(value));
    }
    std::int64_t value = 1;
  };

  TEST_CASE_FIXTURE(crowd,
                    "what does not fit into one batch goes group by group, and what is watched with each") {
    read_files();
    read_watts();
    CHECK(next() == "w1");
    CHECK(batch.values.size() == 201);
    CHECK(next() == "2");
    read_watts();
    CHECK(next() == "w3");
    CHECK(next() == "");
  }

  TEST_CASE_FIXTURE(crowd, "on a line that is always full every group has its turn") {
    std::string all;
    for (int i = 0; i < 6; ++i) {
      read_files();
      read_watts();
      all += next();
    }
    CHECK(all == "w1w2w3w1w2w3");
    CHECK(sent.conflated() > 0);
  }

  TEST_CASE_FIXTURE(
      crowd,
      "what is watched goes before a group that is larger than a batch, which goes next all the same") {
    const auto large = b.add_group("textfile", "large", std::chrono::seconds(1), std::chrono::seconds(10));
    std::vector<board::series_ref> many;
    for (int i = 0; i < 1000; ++i) many.push_back(b.add_series(large, "many", {{"i", std::to_string(i)}}));
    sent.announce();
    sent.fill(batch, true, from_ns(1));
    for (const auto m : many) b.set(m, std::int64_t{7});
    b.mark_read(large, from_ns(7));
    read_watts();
    CHECK(next() == "w");
    read_watts();
    CHECK(next() == "w4");
    CHECK(batch.values.size() == 1001);
    CHECK(next() == "");
  }

  TEST_CASE_FIXTURE(fixture, "what it fills is what the wire takes, through a whole conversation") {
    const instant start = from_ns(3'600'000'000'000);
    wire::agent_session node({});
    wire::aggregator_session aggregator({}, start);
    const auto carry = [](wire::session& from, wire::session& to) {
      wire::bytes bytes;
      from.take_output(bytes);
      to.feed(bytes);
    };
    wire::hello h;
    h.node = "node-a";
    h.boot_id = "7f4c1d2e";
    REQUIRE(node.start(h, start).has_value());
    carry(node, aggregator);
    REQUIRE(aggregator.next(start) == wire::aggregator_session::event::hello);
    wire::welcome w;
    w.replica_id = "r";
    aggregator.accept(w, start);
    carry(aggregator, node);
    REQUIRE(node.next(start) == wire::agent_session::event::welcomed);
    for (int round = 0; round < 20; ++round) {
      CAPTURE(round);
      const instant at = start + std::chrono::seconds(round);
      if (round == 10) b.remove_series(joules);
      if (round % 3 == 0) b.set(joules, std::int64_t{round});
      b.set(watts, round % 5 == 4 ? -1e300 : 100.0 + round);
      b.mark_read(rapl, at);
      if (sent.catalog_due()) REQUIRE(node.send(sent.announce(), at).has_value());
      sent.fill(batch, node.needs_full(), at);
      const auto values = batch.values.size();
      const auto absences = batch.absences.size();
      REQUIRE(node.send(batch, at).has_value());
      carry(node, aggregator);
      auto event = aggregator.next(at);
      if (event == wire::aggregator_session::event::catalog) {
        (void)aggregator.open_catalog(at);
        event = aggregator.next(at);
      }
      const auto why = aggregator.ended() ? aggregator.ended()->message : std::string();
      CAPTURE(why);
      REQUIRE(event == wire::aggregator_session::event::batch);
      CHECK(aggregator.last_batch().values.size() == values);
      CHECK(aggregator.last_batch().absences.size() == absences);
    }
  }
}

}  // namespace

}  // namespace feed_test
