#include "aggregator/kube/objects/packed_labels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace binnacle::kube {

namespace json = boost::json;

packed_labels::packed_labels(const json::object* from) {
  if (from == nullptr) return;
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (const auto& member : *from) {
    if (const json::string* value = member.value().if_string()) all.emplace_back(member.key(), *value);
  }
  std::ranges::sort(all);  // the API server sends them in this order
  for (const auto& [key, value] : all) {
    text_.append(key).push_back('\0');
    text_.append(value).push_back('\0');
  }
  text_.shrink_to_fit();
}

std::optional<std::string_view> packed_labels::find(std::string_view key) const noexcept {
  return finder(*this)(key);
}

std::optional<std::string_view> packed_labels::finder::operator()(std::string_view key) noexcept {
  const std::string_view all = in_->text_;
  const auto from = [all](std::uint32_t at) { return all.substr(at); };
  if (std::string_view before = from(before_); next_ != 0 && key <= next(before)) next_ = 0;
  for (std::string_view rest = from(next_); !rest.empty();) {
    const std::string_view name = next(rest), value = next(rest);
    if (name == key) return value;  // and stays here: the same key may be asked for again
    if (name > key) return std::nullopt;
    before_ = std::exchange(next_, static_cast<std::uint32_t>(all.size() - rest.size()));
  }
  return std::nullopt;
}

}  // namespace binnacle::kube
