#include "common/wire/codec/catalog_check.hpp"

#include "common/wire/limits.hpp"
#include "common/wire/names.hpp"

namespace binnacle::wire {

fault bad_catalogue(std::string sentence) { return {reason::bad_catalogue, std::move(sentence)}; }

outcome<void> check(const group_info& g) {
  if (g.source.empty() || g.source.size() > max_name || g.name.size() > max_name || !valid_utf8(g.source) ||
      !valid_utf8(g.name))
    return bad_catalogue("a group whose source or name is empty, too long or not UTF-8");
  if (g.period_ms == 0 || g.stale_after_ms == 0)
    return bad_catalogue("group " + g.source + "/" + g.name + " has a period or stale-after of 0");
  return {};
}

outcome<void> check(const series_info& s) {
  if (!valid_metric_name(s.family))
    return bad_catalogue("a family name that is not a metric name (letters, digits, _ and :, at most 255)");
  if (s.labels.size() > max_labels)
    return fault{reason::catalogue_too_large, std::to_string(s.labels.size()) + " labels at one series of " +
                                                  s.family + "; at most " + std::to_string(max_labels) +
                                                  " are allowed"};
  if (s.exponent > max_exponent || s.exponent < -max_exponent)
    return bad_catalogue("a series of " + s.family + " with exponent " + std::to_string(s.exponent) +
                         "; -18 to 18 are allowed");
  for (const auto& [name, value] : s.labels) {
    if (!valid_label_name(name))
      return bad_catalogue("a label name at " + s.family +
                           " that is none (letters, digits and _, at most 255)");
    if (value.size() > max_text || !valid_utf8(value))
      return bad_catalogue("the value of label " + name + " at " + s.family +
                           " is longer than 1 KiB or not UTF-8");
  }
  return {};
}

}  // namespace binnacle::wire
