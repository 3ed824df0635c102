#pragma once

#include "common/tls/identity.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/reason.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::ingest {

/// Why this hello is not accepted: it names another cluster than ours, or the certificate does not speak for
/// its node (design 6, Identity); nothing when it may. Pure.
std::optional<wire::fault> authorise(const wire::hello& said, const tls::identity& who,
                                     std::string_view cluster);

/// The name under which a node is known: DNS names, and so certificates, do not tell upper from lower case.
std::string canonical_node(std::string_view name);

}  // namespace binnacle::ingest
