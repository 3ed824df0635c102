#include "aggregator/questions/watched_columns.hpp"

#include <utility>

namespace binnacle::questions {

watched_columns::watched_columns(start begin, stop end) : begin_(std::move(begin)), end_(std::move(end)) {}

watched_columns::~watched_columns() {
  for (const auto& [spec, e] : columns_) {
    if (e->column) end_(e->column->id);
  }
}

void watched_columns::end_idle(instant now) {
  for (auto at = columns_.begin(); at != columns_.end();) {
    // A column that is still being started stays: its id is not known yet.
    if (!at->second->column || now - at->second->asked < linger) {
      ++at;
      continue;
    }
    end_(at->second->column->id);
    at = columns_.erase(at);
  }
}

std::shared_ptr<const store::shared_column> watched_columns::get(const store::column_spec& spec,
                                                                 instant now) {
  end_idle(now);
  const auto at = columns_.find(spec);
  if (at != columns_.end()) {
    at->second->asked = now;
    return at->second->column ? at->second->column->values : nullptr;
  }
  if (columns_.size() >= most) return nullptr;
  const auto made = std::make_shared<entry>();
  made->asked = now;
  columns_.emplace(spec, made);
  // A column that arrives after this object has gone is ended at once.
  begin_(spec, [waiting = std::weak_ptr(made), end = end_](started s) {
    if (const auto e = waiting.lock()) {
      e->column = std::move(s);
    } else {
      end(s.id);
    }
  });
  return made->column ? made->column->values : nullptr;
}

}  // namespace binnacle::questions
