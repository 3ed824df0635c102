#pragma once

#include "aggregator/store/shared_column.hpp"
#include "aggregator/store/types.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace binnacle::questions {

/// Columns with a window that requests ask for (old names carry a window). A window must be filled also while
/// nobody asks. So the first request starts the column on the ingest loop, and it ends only some time after
/// the last request. Faces loop.
class watched_columns {
 public:
  static constexpr std::size_t most = 64;  ///< further names are answered without their window
  static constexpr duration linger = std::chrono::minutes(10);  ///< after the last request

  struct started {
    store::column_id id{};
    std::shared_ptr<const store::shared_column> values;
  };
  /// Starts a column somewhere else and gives it, later, on the faces loop (warehouse::watch).
  using start = std::function<void(const store::column_spec&, std::function<void(started)>)>;
  /// Ends it (warehouse::unwatch).
  using stop = std::function<void(store::column_id)>;

  watched_columns(start begin, stop end);
  ~watched_columns();
  watched_columns(const watched_columns&) = delete;
  watched_columns& operator=(const watched_columns&) = delete;

  /// The column, or null while it is being started.
  std::shared_ptr<const store::shared_column> get(const store::column_spec& spec, instant now);
  std::size_t size() const noexcept { return columns_.size(); }
  /// Ends the columns that nobody has asked for within `linger`. To be called now and then: while a column is
  /// kept, all agents read its metric faster.
  void end_idle(instant now);

 private:
  struct entry {
    instant asked{};
    std::optional<started> column;
  };

  start begin_;
  stop end_;
  std::map<store::column_spec, std::shared_ptr<entry>> columns_;
};

}  // namespace binnacle::questions
