#include "aggregator/model_servers/asker.hpp"
#include "tests/aggregator/model_servers/asker_world.hpp"

namespace asker_passwords_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace binnacle::model_servers::test;

TEST_SUITE("aggregator/model_servers/asker/passwords") {
  TEST_CASE("an answer that one password got is no answer for another") {
    world w;
    question one = about("h:1", "pc"), other = one;
    one.model.secret = "ns/one";
    other.model.secret = "ns/other";
    const auto only_one = [](const served_model& m) { return m.secret == "ns/one"; };
    for (const question& q : {one, other}) CHECK(w.it.want(q, w.now) == nullptr);
    for (int i = 0; i < 9; ++i, w.pass(1s)) {
      for (const auto& c : w.it.next(w.now, only_one)) {
        CHECK(c.about.model.secret == "ns/one");
        const auto got = c.for_metadata() ? says(404, "no such page") : watts(c);
        w.it.answered(c, heard(got, c), w.now);
      }
    }
    CHECK(w.it.want(one, w.now) != nullptr);
    CHECK_MESSAGE(w.it.want(other, w.now) == nullptr, "its password is not known, so nobody was asked");
  }

  TEST_CASE("when a password was corrected, its models are asked at once, whatever was refused before") {
    world w;
    question q = about("h:1", "pc");
    q.model.secret = "ns/s";
    (void)w.it.want(q, w.now);
    const instant until = w.now + 30min;
    for (; w.now < until; w.pass(1s)) {
      (void)w.it.want(q, w.now);
      for (const auto& c : w.it.next(w.now))
        w.it.answered(c, reply_of(says(401, ""), c.count, "ns/s"), w.now);
    }
    CHECK(w.it.trouble(q).find("of the Secret ns/s") != std::string::npos);
    CHECK_MESSAGE(w.it.next(w.now).empty(), "a pause of minutes");
    w.it.ask_at_once("ns/other");
    CHECK(w.it.next(w.now).empty());
    w.it.ask_at_once("ns/s");
    CHECK(w.it.next(w.now).size() == 1);
  }
}

}  // namespace asker_passwords_test
