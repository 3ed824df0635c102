#include "aggregator/kube/election/election.hpp"

#include "aggregator/kube/json.hpp"
#include "common/text/json_members.hpp"

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace election_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using kube::election;

/// The one Lease of an API server. A PUT with another version than the present one is a conflict.
struct lease_server {
  std::string body;  // empty: there is no Lease
  int version = 0;

  http::answer answer(const http::call& c) {
    if (c.method == "GET")
      return body.empty() ? http::answer{404, {}, "{}"} : http::answer{200, {}, stored()};
    if (c.method == "POST" && !body.empty())
      return {409, {}, R"({"kind":"Status","code":409,"reason":"AlreadyExists"})"};
    if (c.method == "PUT" && body.empty()) return {404, {}, "{}"};
    const auto given = kube::parse_object(c.body).value();
    const auto of = text_in(*object_in(given, "metadata"), "resourceVersion");
    if (c.method == "PUT" && of != std::to_string(version))
      return {409, {}, R"({"kind":"Status","code":409,"reason":"Conflict"})"};
    ++version;
    body = c.body;
    return {c.method == "POST" ? 201u : 200u, {}, stored()};
  }
  std::string stored() const {
    boost::json::object o = kube::parse_object(body).value();
    o["metadata"].as_object()["resourceVersion"] = std::to_string(version);
    return boost::json::serialize(o);
  }
};

struct candidate {
  candidate(std::string who, lease_server& s) : machine({"ops", "binnacle", who}), server(s) {}

  /// Makes the calls that are due at `now`. Returns their methods, as "GET PUT ".
  std::string turn(instant now) {
    std::string out;
    for (int i = 0; i < 5; ++i) {
      const auto a = machine.next(now, election::wall(std::chrono::seconds(1'800'000'000) + 123456us));
      if (!a.call) {
        wakes = now + a.within;
        return out;
      }
      out += a.call->method + " ";
      last = *a.call;
      if (reachable) {
        machine.answered(server.answer(*a.call), now);
      } else {
        machine.broke({errc::disconnected, "connection refused"}, now);
      }
    }
    return out + "...";
  }

  election machine;
  lease_server& server;
  http::call last;
  instant wakes{};
  bool reachable = true;
};

TEST_SUITE("aggregator/kube/election") {
  const instant start(1h);

  TEST_CASE("the first makes the Lease and renews it every five seconds") {
    lease_server s;
    candidate a("a", s);
    CHECK_FALSE(a.machine.leads(start));
    CHECK(a.turn(start) == "GET POST ");
    CHECK(a.last.target == "/apis/coordination.k8s.io/v1/namespaces/ops/leases");
    CHECK(
        a.last.body ==
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"binnacle","namespace":"ops"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2027-01-15T08:00:00.123456Z","renewTime":"2027-01-15T08:00:00.123456Z","leaseTransitions":0}})");
    CHECK(a.machine.leads(start));
    CHECK(a.wakes == start + 5s);
    CHECK(a.turn(start + 5s) == "PUT ");
    CHECK(a.last.target == "/apis/coordination.k8s.io/v1/namespaces/ops/leases/binnacle");
    CHECK(a.machine.transitions() == 0);
    CHECK(a.machine.leads(start + 14s));
    CHECK_FALSE(a.machine.leads(start + 15s));
  }

  TEST_CASE("what a holder began to write is over before another may hold it") {
    const election::settings s;
    CHECK(s.renew + election::write_deadline <= s.lease);
  }

  TEST_CASE("another waits, and follows a holder who died within twenty seconds, whenever it looked") {
    for (duration offset = 0s; offset < 5s; offset += 250ms) {
      CAPTURE(offset.count());
      lease_server s;
      candidate a("a", s), b("b", s);
      instant died{};
      for (instant now = start; now < start + 60s; now += 50ms) {
        if (now < start + 30s && now >= a.wakes) {
          if (a.turn(now).find("P") != std::string::npos) died = now;  // dies right after a renewal
        }
        if (now >= start + offset && now >= b.wakes) b.turn(now);
        CHECK_FALSE((a.machine.leads(now) && b.machine.leads(now)));
        if (b.machine.leads(now)) {
          CHECK(now - died <= 20s);
          CHECK(now - died >= 15s);
          CHECK(b.machine.transitions() == 1);
          break;
        }
      }
      CHECK(b.machine.holder() == "b");
    }
  }

  TEST_CASE("a holder who cannot renew stops by itself before another may begin") {
    lease_server s;
    candidate a("a", s), b("b", s);
    a.turn(start);
    b.turn(start);
    a.reachable = false;
    bool both = false, taken = false;
    for (instant now = start; now < start + 40s; now += 50ms) {
      if (now >= a.wakes) a.turn(now);
      if (now >= b.wakes) b.turn(now);
      both = both || (a.machine.leads(now) && b.machine.leads(now));
      taken = taken || b.machine.leads(now);
    }
    CHECK_FALSE(both);
    CHECK(taken);
    CHECK(a.machine.trouble().find("connection refused") != std::string::npos);
    a.reachable = true;
    a.turn(start + 60s);
    CHECK_FALSE(a.machine.leads(start + 60s));
    CHECK(a.machine.holder() == "b");
    CHECK(a.machine.trouble().empty());
  }

  TEST_CASE("a former holder's calls have as much time as anybody's") {
    lease_server s;
    candidate a("a", s);
    a.turn(start);
    REQUIRE(a.machine.leads(start));
    a.reachable = false;
    instant now = start;
    while (a.machine.leads(now)) {
      now = std::max(now + 100ms, a.wakes);
      a.turn(now);
    }
    now = std::max(now + 1h, a.wakes);
    const auto next = a.machine.next(now, {});
    REQUIRE(next.call.has_value());
    CHECK(next.within == 5s);
  }

  TEST_CASE("a short outage costs nothing: the holder goes on") {
    lease_server s;
    candidate a("a", s);
    a.turn(start);
    a.reachable = false;
    for (instant now = start; now < start + 9s; now += 100ms) {
      if (now >= a.wakes) a.turn(now);
      CHECK(a.machine.leads(now));
    }
    a.reachable = true;
    a.turn(start + 9500ms);
    CHECK(a.machine.leads(start + 15s));
    CHECK(a.machine.transitions() == 0);
  }

  TEST_CASE("a holder that gives the Lease back is followed at the next look") {
    lease_server s;
    candidate a("a", s), b("b", s);
    a.turn(start);
    b.turn(start);
    const auto back = a.machine.release(start + 1s, {});
    REQUIRE(back.has_value());
    CHECK(s.answer(*back).status == 200);
    CHECK_FALSE(a.machine.leads(start + 1s));
    CHECK_FALSE(a.machine.release(start + 1s, {}).has_value());
    CHECK(b.turn(b.wakes) == "GET PUT ");
    CHECK(b.machine.leads(b.wakes - 5s));
  }

  TEST_CASE("of two who take it at one moment the slower learns it from the conflict") {
    lease_server s;
    candidate a("a", s), b("b", s);
    const auto look_a = a.machine.next(start, {});
    const auto look_b = b.machine.next(start, {});
    a.machine.answered(s.answer(*look_a.call), start);
    b.machine.answered(s.answer(*look_b.call), start);
    CHECK(a.turn(start) == "POST ");
    CHECK(b.turn(start) == "POST ");
    CHECK_FALSE(b.machine.leads(start));
    CHECK(b.turn(start + 1s) == "GET ");
    CHECK(b.machine.holder() == "a");
  }

  TEST_CASE("an edit by somebody else between two renewals is seen, and the holder goes on") {
    lease_server s;
    candidate a("a", s);
    a.turn(start);
    ++s.version;  // as when somebody adds an annotation
    CHECK(a.turn(start + 5s) == "PUT ");
    CHECK(a.machine.leads(start + 5s));
    CHECK(a.turn(start + 6s) == "GET PUT ");
    CHECK(a.machine.leads(start + 15s));
  }

  TEST_CASE("a holder who sees that another holds it stops at once") {
    lease_server s;
    candidate a("a", s), b("b", s);
    a.turn(start);
    b.turn(start);
    s.body.clear();  // kubectl delete lease
    CHECK(b.turn(start + 4s) == "GET POST ");
    REQUIRE(b.machine.leads(start + 4s));
    CHECK(a.turn(start + 5s) == "PUT ");  // 409
    CHECK(a.turn(a.wakes) == "GET ");
    CHECK(a.machine.holder() == "b");
    CHECK_FALSE(a.machine.leads(start + 6s));
    CHECK(b.machine.leads(start + 6s));
  }

  TEST_CASE("a missing right or namespace is reported, and tried again after pauses") {
    lease_server s;
    candidate a("a", s);
    auto look = a.machine.next(start, {});
    a.machine.answered({403, {}, R"({"kind":"Status","code":403,"message":"leases is forbidden"})"}, start);
    CHECK(a.machine.trouble().find("leases is forbidden") != std::string::npos);
    CHECK(a.machine.next(start, {}).within == 4s);
    look = a.machine.next(start + 4s, {});
    a.machine.answered({404, {}, "{}"}, start + 4s);
    look = a.machine.next(start + 4s, {});
    CHECK(look.call->method == "POST");
    a.machine.answered({404, {}, R"({"kind":"Status","code":404,"message":"namespaces \"ops\" not found"})"},
                       start + 4s);
    CHECK(a.machine.trouble().find("not found") != std::string::npos);
    CHECK_FALSE(a.machine.next(start + 4s, {}).call.has_value());
    CHECK_FALSE(a.machine.leads(start + 4s));
  }

  TEST_CASE("a server that wants to be left alone is, by the holder, too") {
    lease_server s;
    candidate a("a", s);
    CHECK(a.turn(start) == "GET POST ");
    auto renewal = a.machine.next(start + 5s, {});
    CHECK(renewal.call->method == "PUT");
    a.machine.answered({429, {{"retry-after", "3"}}, "{}"}, start + 5s);
    CHECK(a.machine.next(start + 5s, {}).within == 3s);
    CHECK(a.turn(start + 8s) == "GET PUT ");
    CHECK(a.machine.leads(start + 8s));
    SUBCASE("but not for so long that it loses the lease by it") {
      a.machine.next(start + 13s, {});
      a.machine.answered({429, {{"retry-after", "300"}}, "{}"}, start + 13s);
      CHECK(a.machine.next(start + 13s, {}).within == 3s);
      CHECK(a.turn(start + 16s) == "GET PUT ");
      CHECK(a.machine.leads(start + 20s));
    }
  }

  TEST_CASE("a lease that makes no sense is no lease of anybody's") {
    for (const char* body :
         {"{}", R"({"metadata":{"resourceVersion":"7"},"spec":{}})",
          R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":7,"leaseDurationSeconds":-5}})"}) {
      CAPTURE(body);
      election e({"ops", "binnacle", "a"});
      e.next(start, {});
      e.answered({200, {}, body}, start);
      CHECK(e.holder().empty());
      CHECK_FALSE(e.leads(start));
    }
    election e({"ops", "binnacle", "a"});
    e.next(start, {});
    e.answered({200, {}, "<html>"}, start);
    CHECK_FALSE(e.trouble().empty());
  }
}

}  // namespace

}  // namespace election_test
