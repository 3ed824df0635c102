#pragma once

#include "aggregator/predict/learning/learner.hpp"
#include "aggregator/store/words.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace binnacle::aggregator {

/// What a node had learned of its watts, as a snapshot keeps it: at most 47 words, and less for loads that
/// the node never had.
struct kept_learning {
  std::uint64_t of = 0;  ///< learning_key()
  predict::learner what;
};

/// Stands for the hardware and the kind of meter that something was learned of. What was learned under
/// another key is not used.
std::uint64_t learning_key(std::string_view machine, std::string_view meter) noexcept;

void save(const kept_learning& kept, store::words& into);
/// What save() wrote. None: these words cannot be.
std::optional<kept_learning> load_learning(store::word_reader from) noexcept;

}  // namespace binnacle::aggregator
