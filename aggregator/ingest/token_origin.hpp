#pragma once

namespace binnacle::ingest {

/// Which address an agent's token may come from.
enum class token_origin : unsigned char {
  anywhere,
  not_another_pod,  ///< NAT may show an agent with a node's or gateway's address
  own_pod,          ///< only the pod's own (on the host's network: its node's)
};

}  // namespace binnacle::ingest
