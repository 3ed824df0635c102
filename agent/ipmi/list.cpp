#include "agent/ipmi/list.hpp"

#include "agent/ipmi/sensor_choice.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

namespace binnacle::ipmi {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& w : words) all += all.empty() ? w : ", " + w;
  return all.empty() ? "nothing asserted" : all;
}

std::string value_text(const listed& l) {
  if (l.got.value && l.got.over) {
    return fmt::format("{:.6g} {} ({:.6g} to {:.6g}, mean {:.6g}, over {:.6g} s)", *l.got.value, l.about.unit,
                       l.got.over->minimum, l.got.over->maximum, l.got.over->average,
                       l.got.over->window_ms / 1e3);
  }
  if (l.got.value) return fmt::format("{:.6g} {}", *l.got.value, l.about.unit);
  if (l.got.state) return joined(l.got.words);
  return fmt::format("- ({})", to_string(l.got.reason));
}

std::string limits_text(const thresholds& t) {
  std::string text;
  const auto add = [&text](const char* name, const std::optional<double>& d) {
    if (d) text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name, *d);
  };
  add("lower critical", t.lower_critical);
  add("lower", t.lower_non_critical);
  add("upper", t.upper_non_critical);
  add("upper critical", t.upper_critical);
  return text;
}

}  // namespace

std::string as_text(const bmc& who, const std::vector<listed>& all) {
  auto text = fmt::format(
      "{}: {} product {}, firmware {}, IPMI {}{}\n", who.address,
      who.manufacturer.empty() ? fmt::format("maker {}", who.manufacturer_id) : printable(who.manufacturer),
      who.product_id, who.firmware, who.ipmi_version, who.dcmi ? ", DCMI" : "");
  if (!who.guid.empty()) text += fmt::format("guid {}\n", who.guid);
  text += '\n';

  std::vector<sensor> inventory;
  for (const auto& l : all) inventory.push_back(l.about);
  constexpr std::size_t columns = 8;
  using row = std::array<std::string, columns>;
  std::vector<row> rows{{"KEY", "NAME", "ENTITY", "VALUE", "ROLE", "DEFAULT", "TOOK", "LIMITS"}};
  std::size_t read_by_default = 0;
  for (const auto& l : all) {
    const bool by_default = on_default_list(l.about, inventory);
    read_by_default += by_default ? 1 : 0;
    rows.push_back({l.about.key, printable(l.about.name),
                    fmt::format("{} {}", l.about.entity, l.about.instance), printable(value_text(l)),
                    l.about.role == sensor_role::none ? "" : std::string(to_string(l.about.role)),
                    by_default ? "yes" : "", fmt::format("{:.1f} ms", l.got.took_us / 1e3),
                    limits_text(l.about.limits)});
  }
  std::array<std::size_t, columns> widths{};
  for (const auto& r : rows) {
    for (std::size_t i = 0; i < r.size(); ++i) widths[i] = std::max(widths[i], r[i].size());
  }
  for (const auto& r : rows) {
    std::string line;
    for (std::size_t i = 0; i < r.size(); ++i) line += fmt::format("{:<{}}  ", r[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text +
         fmt::format(
             "\n{} sensors; {} are read by default, the others when configured or wanted by a policy.\n",
             all.size(), read_by_default);
}

result<void> list(monitor& from, bool as_json, std::ostream& out) {
  const auto found = from.find();
  if (!found) return found.error();
  std::vector<listed> all;
  for (const auto& s : (*found)->sensors) {
    auto tried = from.read(s);
    if (tried.lost)
      return error{errc::timeout, "the BMC stopped answering at " + s.about.key + ": try again"};
    reading busy{.key = s.about.key, .reason = absence::timeout};
    all.push_back({s.about, tried.got ? *std::move(tried.got) : std::move(busy)});
  }
  if (!as_json) {
    out << as_text((*found)->who, all);
    return {};
  }
  out << encode(from_helper((*found)->who));
  for (const auto& l : all) out << encode(from_helper(l.about));
  out << encode(from_helper(inventory_end{static_cast<std::uint32_t>(all.size())}));
  for (const auto& l : all) out << encode(from_helper(l.got));
  return {};
}

}  // namespace binnacle::ipmi
