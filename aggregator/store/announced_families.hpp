#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::store {

/// The names of the families that nodes announce now. Each kind of nodes (column_set.hpp) holds its names for
/// as long as it lives. Exporters can announce any number of names, so of theirs a bounded number is known,
/// and one kind adds only some of them; names that only one other kind holds count as added, because that may
/// be the kind that the node is of until now. So no node keeps those of all others out, and what it made up
/// goes when it announces other names, or is forgotten. Threads: the ingest loop.
class announced_families {
 public:
  /// Names that are not Binnacle's own.
  static constexpr std::size_t most_foreign = 5'000;
  static constexpr std::size_t most_new_of_a_kind = 1'000;

  using counts = std::map<std::string, std::size_t, std::less<>>;  ///< how many kinds hold a name

  /// The names of one kind, counted while it exists.
  class held {
   public:
    held(std::shared_ptr<counts> all, const std::vector<std::string>& names);
    ~held();
    held(const held&) = delete;
    held& operator=(const held&) = delete;

   private:
    std::shared_ptr<counts> all_;
    std::vector<counts::iterator> mine_;
  };

  /// `names`: each once.
  std::unique_ptr<const held> hold(const std::vector<std::string>& names) {
    return std::make_unique<const held>(all_, names);
  }
  /// In byte order; good until the next catalog comes or a node is forgotten.
  std::vector<std::string_view> names() const;

 private:
  std::shared_ptr<counts> all_ = std::make_shared<counts>();
};

}  // namespace binnacle::store
