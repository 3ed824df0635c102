#include "agent/base/inlet_sensors.hpp"
#include "agent/base/sensor_name.hpp"
#include "agent/sources/os/number_files.hpp"
#include "agent/sources/os/part.hpp"
#include "agent/sources/os/sensors.hpp"
#include "agent/sources/power_rules.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace binnacle::agent {
namespace {

// Reading a chip may take at most 1/20 of the time. A chip that takes long is read less often.
constexpr int busy_share = 20;
constexpr duration longest_period = std::chrono::minutes(10);
constexpr std::size_t no_file = static_cast<std::size_t>(-1);
// A chip that comes and goes all the time must not make the loop read all names each second.
constexpr duration between_looks = std::chrono::seconds(5);

// Whether the sensor's name says that it measures the incoming air.
bool is_air(const sensor& s) {
  wire::series_info shown;
  shown.labels = s.labels;
  return s.family.ends_with("_temperature_celsius") && is_named(shown, usual_inlets);
}

bool is_power_zone(const sensor& s) { return s.family == power_of_zone || s.family == power_of_part; }

// All bits of a signed number set: the firmware has none. No zone draws these microwatts for long.
constexpr std::int64_t no_zone_power = std::numeric_limits<std::int32_t>::max();

// What it is called on its chip.
std::string_view name_on_chip(const sensor& s) {
  return is_power_zone(s) ? metrics::label_of(s.labels, "zone") : s.labels.back().second;
}

// Each power zone has its file, but the driver refuses one that the firmware does not measure. Source: Linux
// drivers/powercap/arm_scmi_powercap.c, scmi_powercap_get_power_uw().
bool says_no_meter(int error_number) {
  return error_number == EINVAL || error_number == ENODATA || error_number == EOPNOTSUPP;
}

/// Chips with sensors, from hwmon or from thermal zones. Each chip has its own group and pace, and is read
/// outside the loop unless it is quick. Chips come and go (drives, modules, zones of firmware). One that is
/// gone is forgotten at the next discovery. A sum over those that were found would silently lack one that
/// comes late, so each read compares the names in the folders with those of the last discovery. (The time of
/// change of a folder of sysfs does not tell: the kernel need not keep one.)
class sensor_part final : public os_part {
 public:
  /// Is given the inputs that have no meter.
  using finder = std::function<result<sensor_chips>(const std::set<std::string>&)>;

  /// `folder` is where most of them are, and stands in messages; `further` is another one, or empty.
  sensor_part(const os_options& options, std::string_view title, std::string folder, std::string further,
              std::string none, finder find)
      : options_(options),
        folder_(std::move(folder)),
        further_(std::move(further)),
        title_(fmt::format("{} ({})", title, folder_)),
        none_(std::move(none)),
        find_(std::move(find)) {}

  std::string what() const override {
    std::string list;
    for (const auto& c : chips_) {
      const auto count = c.about.sensors.size();
      list += fmt::format("{}{} ({} {}", list.empty() ? "" : ", ", c.about.name, count,
                          count == 1 ? "sensor" : "sensors");
      if (c.slowest > duration::zero()) list += fmt::format(", read in {}", human(c.slowest));
      list += ')';
    }
    return list.empty() ? title_ : title_ + ": " + list;
  }
  std::string remedy() const override { return none_; }

  result<void> discover(board& out, board::group_ref) override {
    names_ = names();  // before the search, so that what comes meanwhile is seen
    auto found = find_(without_meter_);
    forget_meters(found ? found->all : std::vector<sensor_chip>());
    if (!found) {
      for (auto& c : chips_) out.remove_group(c.group);
      chips_.clear();
      return found.error();
    }
    std::erase_if(chips_, [&](const chip& known) {
      const bool stays =
          std::ranges::any_of(found->all, [&](const sensor_chip& c) { return same(c, known.about); });
      if (!stays) out.remove_group(known.group);
      return !stays;
    });
    left_out_ = found->left_out;
    for (auto& c : found->all) {
      if (std::ranges::none_of(chips_, [&](const chip& known) { return same(c, known.about); })) {
        announce(std::move(c), out);
      }
    }
    if (chips_.empty()) return error{errc::not_found, folder_ + ": none there"};
    return {};
  }

  bool looks_again() override {
    const auto now = options_.time.now();
    if (now < next_look_) return false;
    const bool changed = names() != names_;
    if (!changed && !look_soon_) return false;
    next_look_ = now + between_looks;
    // The kernel shows a chip's name before the chip has its files, so the next look follows anyway.
    look_soon_ = changed;
    return true;
  }

  result<void> read(board& out) override {
    result<void> outcome{};
    for (auto& c : chips_) {
      if (c.files.poll(c.about.how == sensor_chip::pace::quick ? duration::zero() : c.period)) {
        if (!take(c, out)) outcome = error{errc::not_found, fmt::format("{} has gone", c.about.folder)};
      } else if (c.files.overdue()) {
        for (const auto& o : c.outputs) {
          out.set_absent(o.value, absence::timeout);
          out.set_absent(o.margin, absence::timeout);
        }
        outcome = error{errc::timeout, fmt::format("{} ({}) does not answer", c.about.name, c.about.folder)};
      }
    }
    return outcome;
  }

  void add_limitations(problem_summary& to) const override {
    for (const auto& c : chips_) {
      for (std::size_t i = 0; i < c.outputs.size(); ++i) {
        const auto& o = c.outputs[i];
        if (const auto failed = c.files.numbers()[o.input].error_number;
            without_meter_.contains(c.about.sensors[i].input) && failed != 0 && !look_soon_ &&
            c.about.sensors[i].family == power_of_zone) {
          to.add(fmt::format(
              "{} {} has no meter ({}), nor do parts of it that have one make up all of it, so "
              "host_power_watts does not use {}: look for newer firmware, or name sensors of hwmon in "
              "power-sensors",
              c.about.name, name_on_chip(c.about.sensors[i]), describe(failed), c.about.name));
        }
        if (!o.doubted) continue;
        to.add(fmt::format(
            "{} {} says {}", c.about.name, name_on_chip(c.about.sensors[i]),
            o.power
                ? "less than 0 W, so it is not used: a meter that counts both ways, such as a battery's, may "
                  "say so; for any other, reload its driver, or report it to the kernel's makers"
                : "a temperature that incoming air cannot have, so it is not used: the sensor may be dead; "
                  "reload its driver, or look at it with the board's own tools"));
      }
    }
    if (left_out_ > 0) {
      to.add(fmt::format(
          "{}: {} chips or sensors are left out: at most {} chips are read, and as many sensors of each chip",
          folder_, left_out_, sensor_chips::most));
    }
  }

 private:
  struct output {
    double unit = 1;
    bool power = false;
    bool air = false;      // incoming air, by its name
    bool doubted = false;  // the last reading said less than 0 W, or what no air can have
    bool there = false;    // at the last reading, with a number or without one
    std::size_t input = no_file, mean = no_file, critical = no_file, fault = no_file;
    board::series_ref value = board::no_series, margin = board::no_series;
  };
  struct chip {
    sensor_chip about;
    number_files files;
    duration period;  // the period that is wanted for it
    duration slowest{};
    board::group_ref group = board::no_group;
    board::series_ref seconds = board::no_series;
    std::vector<output> outputs;
  };

  static bool same(const sensor_chip& a, const sensor_chip& b) {
    return a.folder == b.folder && a.name == b.name &&
           std::ranges::equal(a.sensors, b.sensors, [](const sensor& x, const sensor& y) {
             return x.input == y.input && x.family == y.family && x.labels == y.labels;
           });
  }

  // A zone that has said watts once has a meter, whatever it says later: its parts may say less than it.
  void note_meter(const std::string& input, const number_files::number& says) {
    if (says.reason == absence::none) {
      with_meter_.insert(input);
      if (without_meter_.erase(input) > 0) look_soon_ = true;
    } else if (says_no_meter(says.error_number) && !with_meter_.contains(input) &&
               without_meter_.insert(input).second) {
      look_soon_ = true;
    }
  }

  // What is known of zones that are gone. Another one may have the number next.
  void forget_meters(const std::vector<sensor_chip>& found) {
    std::set<std::string> there;
    for (const auto& c : found) {
      for (const auto& s : c.sensors) there.insert(s.input);
    }
    const auto is_gone = [&there](const std::string& input) { return !there.contains(input); };
    std::erase_if(with_meter_, is_gone);
    std::erase_if(without_meter_, is_gone);
  }

  std::vector<std::string> names() const {
    auto all = names_in(folder_);
    if (further_.empty()) return all;
    auto more = names_in(further_);
    std::ranges::move(more, std::back_inserter(all));
    return all;
  }

  duration period_of(sensor_chip::pace how) const {
    switch (how) {
      case sensor_chip::pace::quick: return options_.period;
      case sensor_chip::pace::slow: return std::max(options_.period, options_.sensor_period);
      case sensor_chip::pace::drive: return std::max(options_.period, options_.drive_period);
    }
    return options_.period;
  }

  void announce(sensor_chip about, board& out) {
    const auto period = period_of(about.how);
    const auto group = out.add_group("os", about.name, period, metrics::stale_after(period));
    std::vector<number_files::file> files;
    std::vector<output> outputs;
    const auto add = [&](const std::string& path, bool once) {
      if (path.empty()) return no_file;
      files.push_back({path, once});
      return files.size() - 1;
    };
    for (const auto& s : about.sensors) {
      output o;
      o.unit = s.unit;
      o.power = s.family.ends_with("_power_watts");
      o.air = is_air(s);
      o.input = add(s.input, false);
      o.mean = add(s.mean, false);
      o.critical = add(s.critical, true);
      o.fault = add(s.fault, false);
      o.value = out.add_series(group, s.family, s.labels);
      if (o.critical != no_file) {
        o.margin = out.add_series(group, "os_temperature_margin_celsius",
                                  {{"chip", about.name}, {"sensor", s.labels.back().second}});
      }
      outputs.push_back(o);
    }
    const auto seconds = out.add_series(group, "os_sensor_read_seconds", {{"chip", about.name}});
    number_files from(std::move(files), about.how == sensor_chip::pace::quick ? nullptr : options_.slow,
                      options_.time);
    chips_.push_back({std::move(about), std::move(from), period, {}, group, seconds, std::move(outputs)});
  }

  // False if the chip is gone.
  bool take(chip& c, board& out) {
    const auto& numbers = c.files.numbers();
    bool any_there = false;
    bool any_value = false;
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
      auto& o = c.outputs[i];
      auto value = numbers[o.input];
      if (is_power_zone(c.about.sensors[i])) {
        if (value.reason == absence::none && value.value == no_zone_power) value.reason = absence::no_data;
        note_meter(c.about.sensors[i].input, value);
      }
      if (value.reason != absence::none && o.mean != no_file && numbers[o.mean].reason == absence::none)
        value = numbers[o.mean];
      any_there = any_there || value.reason != absence::missing;
      // It went, or has another number now: its chip may have gone on with the others.
      look_soon_ = look_soon_ || (o.there && value.reason == absence::missing);
      o.there = value.reason != absence::missing;
      const bool faulty =
          o.fault != no_file && numbers[o.fault].reason == absence::none && numbers[o.fault].value != 0;
      if (value.reason == absence::none && faulty) value.reason = absence::no_data;
      const double says = static_cast<double>(value.value) * o.unit;
      o.doubted = value.reason == absence::none &&
                  ((o.power && negative_watts(says)) || (o.air && !may_be_air(says)));
      if (o.doubted) value.reason = absence::implausible;
      if (value.reason != absence::none) {
        out.set_absent(o.value, value.reason);
        out.set_absent(o.margin, value.reason);
        continue;
      }
      any_value = true;
      out.set(o.value, says);
      if (o.critical == no_file) continue;
      const auto& limit = numbers[o.critical];
      if (limit.reason != absence::none || limit.value <= 0) {
        out.set_absent(o.margin, limit.reason == absence::none ? absence::no_data : limit.reason);
      } else {
        out.set(o.margin, static_cast<double>(limit.value - value.value) * o.unit);
      }
    }
    out.set(c.seconds, std::chrono::duration<double>(c.files.took()).count());
    if (any_value) out.mark_read(c.group, c.files.read_at());
    adapt(c, out);
    return any_there;
  }

  void adapt(chip& c, board& out) const {
    c.slowest = std::max(c.files.took(), c.slowest * 9 / 10);
    const auto wanted =
        std::min(std::max<duration>(period_of(c.about.how), c.slowest * busy_share), longest_period);
    if (c.about.how == sensor_chip::pace::quick) return;
    // Ignore small changes, because a new period announces the catalog again.
    if (wanted < c.period * 3 / 2 && wanted * 3 / 2 > c.period) return;
    c.period = wanted;
    out.set_period(c.group, wanted, metrics::stale_after(wanted));
  }

  os_options options_;
  std::string folder_, further_, title_, none_;
  finder find_;
  std::vector<chip> chips_;
  std::vector<std::string> names_;  // in the folders, when discover() looked last
  bool look_soon_ = false;          // though these names have not changed
  instant next_look_{};
  std::set<std::string> with_meter_, without_meter_;  // inputs of power zones, by what they have said
  std::size_t left_out_ = 0;
};

// The chips of hwmon and, as further chips, the kernel's power zones.
result<sensor_chips> find_chips(const std::string& sys, bool every_core,
                                const std::set<std::string>& without_meter) {
  auto chips = find_hwmon_chips(sys, every_core);
  auto zones = find_power_zones(sys, without_meter);
  if (zones.all.empty()) return chips;
  if (!chips) return zones;
  std::ranges::move(zones.all, std::back_inserter(chips->all));
  chips->left_out += zones.left_out;
  return chips;
}

}  // namespace

std::unique_ptr<os_part> make_hwmon_part(const os_options& options) {
  return std::make_unique<sensor_part>(
      options, "sensor chips", options.sys + "/class/hwmon", options.sys + "/class/powercap",
      "nothing on a virtual machine; else load the board's and the drives' drivers (sensors-detect names "
      "them; "
      "modprobe drivetemp for SATA)",
      [sys = options.sys, every = options.per_cpu](const std::set<std::string>& without_meter) {
        return find_chips(sys, every, without_meter);
      });
}

std::unique_ptr<os_part> make_thermal_part(const os_options& options) {
  return std::make_unique<sensor_part>(
      options, "thermal zones", options.sys + "/class/thermal", "",
      "nothing on a virtual machine; else check sys-root",
      [sys = options.sys](const std::set<std::string>&) { return find_thermal_zones(sys); });
}

}  // namespace binnacle::agent
