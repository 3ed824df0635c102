#include "aggregator/store/view.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

namespace binnacle::store {

TEST_SUITE("aggregator/store/view") {
  TEST_CASE("an update changes only what it carries") {
    view v;
    v.apply({.id = node_id{3},
             .name = "b",
             .at = at_s(5),
             .connected = true,
             .agent_version = "1.2",
             .peer_address = "10.0.0.1:5"});
    v.apply({.id = node_id{4}, .name = "a"});
    const node_view* n = v.find("b");
    REQUIRE(n != nullptr);
    CHECK(n->id == node_id{3});
    CHECK(n->connected);
    CHECK(n->seen() == at_s(5));
    CHECK(v.nodes().begin()->first == "a");

    auto made = make_shape(catalog_builder().group("x").series("a"), {});
    auto cells = std::make_shared<row>(std::make_shared<const shape>(std::move(made->what)));
    cells->set_last_batch(at_s(9));
    v.apply({.id = node_id{3}, .name = "b", .cells = cells});
    CHECK(n->connected);
    CHECK(n->agent_version == "1.2");
    CHECK(n->seen() == at_s(9));

    v.apply({.id = node_id{3}, .name = "b", .at = at_s(12), .connected = false});
    CHECK_FALSE(n->connected);
    CHECK(n->cells == cells);
    CHECK(n->seen() == at_s(12));
    CHECK(v.find("c") == nullptr);
    CHECK(v.ids().find("b") == node_id{3});
    CHECK(v.ids().find("c") == name_index::none);
  }

  TEST_CASE("a node that is forgotten is found no more, by name or in order, and may come back as another") {
    view v;
    for (std::uint32_t i = 0; i < 100; ++i) v.apply({.id = node_id{i}, .name = "n" + std::to_string(i)});
    v.forget({node_id{7}, node_id{99}, node_id{500}});
    CHECK(v.find("n7") == nullptr);
    CHECK(v.ids().find("n99") == name_index::none);
    CHECK(v.nodes().size() == 98);
    CHECK(v.find("n8")->id == node_id{8});
    v.apply({.id = node_id{100}, .name = "n7"});
    CHECK(v.find("n7")->id == node_id{100});
  }

  TEST_CASE("a report of the sources' health replaces the one before: a source that is gone is not shown") {
    view v;
    v.apply({.id = node_id{0}, .name = "n", .sources = {{{"rapl", true, ""}, {"os", true, ""}}}});
    v.apply({.id = node_id{0}, .name = "n", .connected = true});
    const node_view* n = v.find("n");
    CHECK(n->sources.size() == 2);
    v.apply({.id = node_id{0}, .name = "n", .sources = {{{"rapl", false, "no access"}}}});
    REQUIRE(n->sources.size() == 1);
    CHECK_FALSE(n->sources[0].ok);
    CHECK(n->sources[0].message == "no access");
  }
}

}  // namespace binnacle::store
