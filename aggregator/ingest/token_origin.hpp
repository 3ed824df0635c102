#pragma once

namespace binnacle::ingest {

/// Which address an agent's token may come from.
enum class token_origin : unsigned char {
  anywhere,
  not_another_pod,  ///< any but that of another pod: NAT gives an agent the address of a node or a gateway
  own_pod,          ///< that of the token's pod alone; on the host's network it has those of its node
};

}  // namespace binnacle::ingest
