#pragma once

#include "aggregator/ingest/token_origin.hpp"
#include "common/clock.hpp"
#include "common/crowd.hpp"
#include "common/error.hpp"
#include "common/tls/identity.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/reason.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::ingest {

/// Why this hello is refused; nothing if it is accepted. A hello is refused if it names another cluster, or
/// if the certificate does not name its node by a DNS name or by a URI that begins with `uri_prefix`
/// (tls::identity::speaks_for). Pure.
std::optional<wire::fault> authorise(const wire::hello& said, const tls::identity& who,
                                     std::string_view cluster, std::string_view uri_prefix);

/// Who holds an agent's token, as the issuer of tokens (the API server) says.
struct token_holder {
  bool genuine = false;  ///< issued, not expired, and for our audience
  std::string account;   ///< "system:serviceaccount:binnacle-agents:binnacle-agent"
  std::string node;      ///< the node that the holder's pod runs on; empty: the token is bound to no node
  std::string why;       ///< the issuer's sentence if the token is not genuine
  instant ends{};        ///< when the token expires
  std::string pod = {};  ///< UID of the holder's pod; empty: not known
  /// The addresses of the holder's pod; empty: not known (yet).
  std::vector<network> addresses = {};
  /// "namespace/name" of another pod that has the address which the token came from; empty: no pod is known
  /// to have it for itself.
  std::string neighbour = {};
  /// Whether all pods have been read, so that no neighbour means that there is none.
  bool pods_read = true;
};
constexpr std::string_view pod_is_gone = "the pod that the agent's token belongs to has been deleted";
/// Asks the issuer about a token that came from an address. `then` is called once, later, on the ingest loop.
/// An error means that the issuer could not be asked.
using token_reviewer =
    std::function<void(std::string token, network from, std::function<void(result<token_holder>)> then)>;

/// Why a hello with this token instead of a certificate is refused. The token must belong to the agents'
/// service account, and to a pod on the node that the hello names. The caller has already checked the
/// cluster. Pure.
std::optional<wire::fault> authorise(const wire::hello& said, const token_holder& who,
                                     std::string_view account);

/// Why a good token is refused from this address; nothing if it is accepted. `unverified` means that the
/// address of the token's pod is not known yet, but will be soon. Pure.
std::optional<wire::fault> check_origin(const token_holder& who, const network& from, token_origin allowed);

/// Seconds until the agent must say hello again, well before its token expires. `spread` is a random number
/// (0..1), so that agents which connected at the same moment do not all send hello again at the same moment.
std::uint32_t reauthenticate_after_s(duration left, double spread);

/// The name under which a node is known, in lower case: DNS names, and so certificates, ignore case.
std::string canonical_node(std::string_view name);

}  // namespace binnacle::ingest
