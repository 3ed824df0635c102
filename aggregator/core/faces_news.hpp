#pragma once

#include <variant>

namespace binnacle::policy {
struct label_claims;
}
namespace binnacle::store {
struct node_update;
}

namespace binnacle::aggregator {

// In changes.hpp.
struct labels_carried;
struct labels_would_be;
struct wishes_changed;
struct nodes_forgotten;
struct policies_published;
struct models_learned;
struct aliases_replaced;

/// The changes of the core that the faces read. policy::label_claims comes before the wishes that follow from
/// it.
using faces_news =
    std::variant<store::node_update, labels_carried, labels_would_be, wishes_changed, policy::label_claims,
                 nodes_forgotten, policies_published, models_learned, aliases_replaced>;

}  // namespace binnacle::aggregator
