#include "aggregator/core/node_contact.hpp"

#include <doctest/doctest.h>

namespace node_contact_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

using contact = snapshot::contact;
constexpr instant then(30h);

TEST_SUITE("aggregator/core/node_contact") {
  TEST_CASE("a contact goes on through short pauses and further sessions, and begins anew after a long one") {
    node_contact c;
    CHECK_FALSE(c.to_keep(then).has_value());
    c.came(then);
    c.came(then + 1h);
    CHECK((c.to_keep(then + 2h) == contact{then, then + 2h}));
    c.left(then + 3h);
    c.left(then + 4h);
    CHECK((c.to_keep(then + 5h) == contact{then, then + 3h}));
    c.came(then + 3h + node_contact::longest_pause);
    CHECK((c.to_keep(then + 4h) == contact{then, then + 4h}));
    c.left(then + 5h);
    c.came(then + 5h + node_contact::longest_pause + 1s);
    CHECK(c.to_keep(then + 6h)->since == then + 5h + node_contact::longest_pause + 1s);
  }

  TEST_CASE("a restart of ours is a pause") {
    node_contact soon, late;
    soon.recall(contact{then - 1h, then}, 10h, then + 10h + 5s);
    soon.came(then + 10h + 30s);
    CHECK((soon.to_keep(then + 11h) == contact{then + 9h, then + 11h}));
    late.recall(contact{then - 1h, then}, 10h, then + 10h + 50min);
    CHECK((late.to_keep(then + 11h) == contact{then + 9h, then + 10h}));
    late.came(then + 11h);
    CHECK((late.to_keep(then + 11h) == contact{then + 11h, then + 11h}));
  }

  TEST_CASE("what a snapshot says of the future is not believed") {
    node_contact c;
    c.recall(contact{then + 1h, then + 2h}, 0s, then);
    CHECK((c.to_keep(then) == contact{then, then}));
  }
}

}  // namespace node_contact_test
