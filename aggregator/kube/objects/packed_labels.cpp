#include "aggregator/kube/objects/packed_labels.hpp"

namespace binnacle::kube {

namespace json = boost::json;

packed_labels::packed_labels(const json::object* from) {
  if (from == nullptr) return;
  for (const auto& member : *from) {
    const json::string* value = member.value().if_string();
    if (value == nullptr) continue;
    text_.append(member.key()).push_back('\0');
    text_.append(value->data(), value->size()).push_back('\0');
  }
  text_.shrink_to_fit();
}

std::optional<std::string_view> packed_labels::find(std::string_view key) const noexcept {
  for (std::string_view rest = text_; !rest.empty();) {
    const std::string_view name = next(rest);
    const std::string_view value = next(rest);
    if (name == key) return value;
  }
  return std::nullopt;
}

}  // namespace binnacle::kube
