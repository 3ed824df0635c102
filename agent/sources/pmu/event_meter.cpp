#include "agent/sources/pmu/event_meter.hpp"

#include <limits>
#include <utility>

namespace binnacle::agent {

void event_meter::announce(const counted_event& about, metrics::label_set labels, board& out,
                           board::group_ref group) {
  scale_ = about.scale;
  if (!about.rate.empty()) rate_series_ = out.add_series(group, about.rate, labels);
  total_series_ = out.add_series(group, about.total, std::move(labels));
}

void event_meter::retire(board& out) {
  out.remove_series(rate_series_);
  rate_series_ = board::no_series;
  rate_.restart();
  settled_ = absence::missing;
}

void event_meter::remove(board& out) {
  retire(out);
  out.remove_series(total_series_);
  total_series_ = board::no_series;
}

void event_meter::add(const counter_set::count& part) noexcept {
  any_ = true;
  if (part.reason == absence::none) {
    total_ += part.rise;
  } else {
    reason_ = part.reason;
  }
}

void event_meter::settle(instant now, board& out) {
  if (!any_) {
    // A refused event keeps its reason. Otherwise every CPU that counts the event is offline.
    if (settled_ == absence::none || settled_ == absence::not_read_yet) {
      refuse(absence::missing, out);
    }
    return;
  }
  settled_ = reason_;
  any_ = false;
  reason_ = absence::none;
  if (settled_ != absence::none) {
    out.set_absent(total_series_, settled_);
    out.set_absent(rate_series_, settled_);
    return;
  }
  if (scale_ == 1) {
    // A mantissa has room for 138 days of cycles of the largest machines. Then the total starts again at 0,
    // as counters may.
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    out.set(total_series_, static_cast<std::int64_t>(total_ & most));
  } else {
    out.set(total_series_, static_cast<double>(total_) * scale_);
  }
  rate_.update(total_, now);
  if (rate_.reason() == absence::none) {
    out.set(rate_series_, rate_.per_second() * scale_);
  } else {
    out.set_absent(rate_series_, rate_.reason());
  }
}

void event_meter::refuse(absence reason, board& out) {
  settled_ = reason;
  any_ = false;
  reason_ = absence::none;
  rate_.restart();
  out.set_absent(total_series_, reason);
  out.set_absent(rate_series_, reason);
}

absence event_meter::reason() const noexcept { return settled_ != absence::none ? settled_ : rate_.reason(); }

std::optional<double> event_meter::per_second() const noexcept {
  if (reason() != absence::none) return std::nullopt;
  return rate_.per_second() * scale_;
}

}  // namespace binnacle::agent
