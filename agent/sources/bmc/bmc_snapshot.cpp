#include "agent/sources/bmc/bmc_snapshot.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::agent {
namespace {

template <class... Handlers>
struct overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

}  // namespace

result<void> bmc_snapshot::take(const ipmi::from_helper& message) {
  const overloaded visitor{
      [&](const ipmi::bmc& m) -> result<void> {
        coming_ = m;
        coming_sensors_.clear();
        return {};
      },
      [&](const ipmi::sensor& m) -> result<void> {
        if (!coming_) return error{errc::protocol, "a sensor outside an inventory"};
        if (coming_sensors_.size() >= ipmi::max_sensors) {
          return error{errc::protocol, fmt::format("more than {} sensors", ipmi::max_sensors)};
        }
        coming_sensors_.push_back(m);
        return {};
      },
      [&](const ipmi::inventory_end& m) { return close_inventory(m.count); },
      [&](const ipmi::plan& m) -> result<void> {
        if (plan_ != m.period_ms) ++version_;
        plan_ = m.period_ms;
        planned_ = true;
        return {};
      },
      [&](const ipmi::reading& m) -> result<void> {
        if (plan_.contains(m.key)) readings_[m.key] = m;
        return {};
      },
      [&](const ipmi::stats& m) -> result<void> {
        stats_ = m;
        return {};
      },
      [](const auto&) -> result<void> { return {}; },
  };
  return std::visit(visitor, message);
}

result<void> bmc_snapshot::close_inventory(std::uint32_t count) {
  if (!coming_ || coming_sensors_.size() != count) {
    return error{errc::protocol,
                 fmt::format("an inventory of {} sensors ends after {}", count, coming_sensors_.size())};
  }
  identity_ = std::move(coming_);
  coming_.reset();
  sensors_ = std::move(coming_sensors_);
  coming_sensors_.clear();
  planned_ = false;
  ++version_;
  ++inventories_;
  return {};
}

void bmc_snapshot::lost() {
  coming_.reset();
  coming_sensors_.clear();
  readings_.clear();
  // The plan is kept with the inventory. The series that it names stay announced, without values, until the
  // next helper sends its plan.
}

std::vector<ipmi::reading> bmc_snapshot::take_readings() {
  std::vector<ipmi::reading> all;
  all.reserve(readings_.size());
  for (auto& [key, r] : readings_) all.push_back(std::move(r));
  readings_.clear();
  return all;
}

}  // namespace binnacle::agent
