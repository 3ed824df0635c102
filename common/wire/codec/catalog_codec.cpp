#include "common/wire/codec/catalog_codec.hpp"

#include "common/keyed_hash.hpp"
#include "common/text/text.hpp"
#include "common/text/utf8.hpp"
#include "common/wire/codec/catalog_check.hpp"
#include "common/wire/codec/codec.hpp"
#include "common/wire/codec/payload.hpp"
#include "common/wire/names.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <map>

namespace binnacle::wire {
namespace {

fault too_large(std::size_t n, std::string_view what, std::size_t limit) {
  return {reason::catalogue_too_large, "a catalog with " + std::to_string(n) + " " + std::string(what) +
                                           "; at most " + std::to_string(limit) + " are allowed"};
}

}  // namespace

outcome<void> check(const catalog& c) {
  if (c.series.size() > max_series) return too_large(c.series.size(), "series", max_series);
  if (c.groups.size() > max_groups) return too_large(c.groups.size(), "groups", max_groups);
  for (const group_info& g : c.groups)
    if (auto fine = check(g); fine.has_error()) return fine;
  for (const series_info& s : c.series) {
    if (auto fine = check(s); fine.has_error()) return fine;
    if (s.group >= c.groups.size())
      return bad_catalogue("a series of " + s.family + " in group " + std::to_string(s.group) + " of " +
                           std::to_string(c.groups.size()));
  }
  return {};
}

namespace detail {
namespace {

/// Numbers texts in the order of their first use.
class text_table {
 public:
  std::uint32_t index(std::string_view text) {
    const auto [at, fresh] = indices_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (fresh) texts_.push_back(text);
    return at->second;
  }
  const std::vector<std::string_view>& texts() const noexcept { return texts_; }

 private:
  boost::unordered_flat_map<std::string_view, std::uint32_t, keyed_hash> indices_;
  std::vector<std::string_view> texts_;
};

template <class Builder>
void copy(Builder to, std::string_view text) {
  std::memcpy(to.begin(), text.data(), text.size());
}

/// The key of the same table for families: a family is its name and its help.
using family_key = std::pair<std::string_view, std::string_view>;

}  // namespace

void fill(schema::Catalog::Builder to, const catalog& from) {
  to.setVersion(from.version);
  auto groups = to.initGroups(static_cast<unsigned>(from.groups.size()));
  for (unsigned i = 0; i < groups.size(); ++i) {
    groups[i].setSource(text(from.groups[i].source));
    groups[i].setName(text(from.groups[i].name));
    groups[i].setPeriodMs(from.groups[i].period_ms);
    groups[i].setStaleAfterMs(from.groups[i].stale_after_ms);
  }

  text_table texts;
  std::map<family_key, std::uint16_t> family_index;
  std::vector<family_key> families;
  auto series = to.initSeries(static_cast<unsigned>(from.series.size()));
  for (unsigned i = 0; i < series.size(); ++i) {
    const series_info& s = from.series[i];
    const auto [at, fresh] =
        family_index.try_emplace(family_key(s.family, s.help), static_cast<std::uint16_t>(families.size()));
    if (fresh) families.push_back(at->first);
    series[i].setFamily(at->second);
    series[i].setGroup(s.group);
    series[i].setExponent(s.exponent);
    series[i].setKind(s.type == metrics::kind::counter ? schema::Kind::COUNTER : schema::Kind::GAUGE);
    if (s.labels.empty()) continue;
    auto labels = series[i].initLabels(static_cast<unsigned>(2 * s.labels.size()));
    unsigned k = 0;
    for (const auto& [name, value] : s.labels) {
      labels.set(k++, texts.index(name));
      labels.set(k++, texts.index(value));
    }
  }

  auto texts_out = to.initTexts(static_cast<unsigned>(texts.texts().size()));
  for (unsigned i = 0; i < texts_out.size(); ++i)
    copy(texts_out.init(i, static_cast<unsigned>(texts.texts()[i].size())), texts.texts()[i]);
  auto families_out = to.initFamilies(static_cast<unsigned>(families.size()));
  for (unsigned i = 0; i < families_out.size(); ++i) {
    const auto& [name, help] = families[i];
    copy(families_out[i].initName(static_cast<unsigned>(name.size())), name);
    const std::string_view short_help = clip(help, max_text);
    if (!short_help.empty())
      copy(families_out[i].initHelp(static_cast<unsigned>(short_help.size())), short_help);
  }
}

outcome<catalog> read(schema::Catalog::Reader from, omissions& left_out) {
  const auto groups = from.getGroups();
  const auto texts = from.getTexts();
  const auto families = from.getFamilies();
  const auto series = from.getSeries();
  if (series.size() > max_series) return too_large(series.size(), "series", max_series);
  if (groups.size() > max_groups) return too_large(groups.size(), "groups", max_groups);
  if (families.size() > max_series) return too_large(families.size(), "families", max_series);
  if (texts.size() > max_message_bytes / sizeof(capnp::word))
    return too_large(texts.size(), "texts", max_message_bytes / sizeof(capnp::word));

  catalog c;
  c.version = from.getVersion();
  c.groups.reserve(groups.size());
  std::vector<bool> sound_groups;
  for (const auto g : groups) {
    c.groups.push_back({std::string(view(g.getSource())), std::string(view(g.getName())), g.getPeriodMs(),
                        g.getStaleAfterMs()});
    auto fine = check(c.groups.back());
    sound_groups.push_back(fine.has_value());
    if (fine.has_value()) continue;
    left_out.add(fine.error());
    c.groups.back() = {"unknown", {}};
  }

  // Follow every pointer only once, because the reader's traversal limit is the size of the message.
  std::vector<std::string_view> text_views;
  text_views.reserve(texts.size());
  for (const auto t : texts) text_views.push_back(view(t));
  std::vector<family_key> family_views;
  family_views.reserve(families.size());
  for (const auto f : families) {
    family_views.emplace_back(view(f.getName()), view(f.getHelp()));
    std::string_view& help = family_views.back().second;
    if (help.size() <= max_text && valid_utf8(help)) continue;
    left_out.add(bad_catalogue("the help of a family is longer than 1 KiB or not UTF-8"));
    help = {};
  }

  // All series of a short message may point to the same long text. So the total length of the texts after
  // decoding is limited, too.
  std::size_t total = 0;
  const auto read_one = [&](schema::Series::Reader s, series_info& to) -> outcome<void> {
    if (s.getFamily() >= family_views.size())
      return bad_catalogue("a series of family " + std::to_string(s.getFamily()) + " of " +
                           std::to_string(family_views.size()));
    const auto& [family, help] = family_views[s.getFamily()];
    if (s.getGroup() >= c.groups.size())
      return bad_catalogue("a series of " + in_quotes(family) + " in group " + std::to_string(s.getGroup()) +
                           " of " + std::to_string(c.groups.size()));
    if (!sound_groups[s.getGroup()])
      return bad_catalogue("a series of " + in_quotes(family) + " in a group that is left out");
    const auto labels = s.getLabels();
    if (labels.size() % 2 != 0 || labels.size() / 2 > max_labels)
      return too_large(labels.size() / 2, "labels at one series", max_labels);
    total += family.size() + help.size();
    to.labels.reserve(labels.size() / 2);
    for (unsigned k = 0; k < labels.size() && total <= max_catalog_text; k += 2) {
      const std::uint32_t name = labels[k], value = labels[k + 1];
      if (name >= text_views.size() || value >= text_views.size())
        return bad_catalogue("a label that points beyond the catalog's texts");
      total += text_views[name].size() + text_views[value].size();
      to.labels.emplace_back(text_views[name], text_views[value]);
    }
    to.family = family;
    to.help = help;
    to.exponent = s.getExponent();
    to.type = s.getKind() == schema::Kind::COUNTER ? metrics::kind::counter : metrics::kind::gauge;
    to.group = s.getGroup();
    return check(to);
  };
  c.series.reserve(series.size());
  for (const auto s : series) {
    auto fine = read_one(s, c.series.emplace_back());
    if (total > max_catalog_text) return too_large(total, "bytes of text", max_catalog_text);
    if (fine.has_value()) continue;
    left_out.add(fine.error());
    c.series.back() = {};  // the series keeps its index: batches name series by it
  }
  return c;
}

}  // namespace detail
}  // namespace binnacle::wire
