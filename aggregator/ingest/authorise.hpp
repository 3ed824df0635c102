#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/tls/identity.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/reason.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::ingest {

/// Why this hello is not accepted: it names another cluster than ours, or the certificate does not speak for
/// its node, by its DNS names or by URIs that begin with `uri_prefix` (tls::identity::speaks_for); nothing
/// when it may. Pure.
std::optional<wire::fault> authorise(const wire::hello& said, const tls::identity& who,
                                     std::string_view cluster, std::string_view uri_prefix);

/// Whose an agent's token is, as whoever issues tokens says.
struct token_holder {
  bool genuine = false;  ///< issued, not over, and for us
  std::string account;   ///< "system:serviceaccount:binnacle-agents:binnacle-agent"
  std::string node;      ///< that the holder's pod runs on; empty: the token is bound to none
  std::string why;       ///< the issuer's sentence when it is not genuine
  instant ends{};        ///< when the token is over
};
/// Finds that out; `then` is called once, on the ingest loop, later. Errors: nothing is known now.
using token_reviewer = std::function<void(std::string token, std::function<void(result<token_holder>)> then)>;

/// The same for a token in place of a certificate: it must be one of the agents' own service account, on a
/// pod of the node that the hello names. The cluster was looked at before. Pure.
std::optional<wire::fault> authorise(const wire::hello& said, const token_holder& who,
                                     std::string_view account);

/// Seconds until the agent must say hello again, well before its token ends; `spread` (0..1) keeps a fleet
/// that came at one moment from coming back at one.
std::uint32_t reauthenticate_after_s(duration left, double spread);

/// The name under which a node is known: DNS names, and so certificates, do not tell upper from lower case.
std::string canonical_node(std::string_view name);

}  // namespace binnacle::ingest
