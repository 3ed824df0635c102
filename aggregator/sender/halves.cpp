#include "aggregator/sender/halves.hpp"

#include <algorithm>
#include <protozero/pbf_writer.hpp>

namespace binnacle::sender {

halves in_halves(std::span<const list_item> list, std::string_view before, protozero::pbf_tag_type field,
                 std::string (*pack)(const std::string& plain)) {
  const auto all = static_cast<std::size_t>(std::ranges::count_if(list, &list_item::begins_node));
  halves out;
  out.first.body = out.second.body = before;
  protozero::pbf_writer first(out.first.body), second(out.second.body);
  std::size_t seen = 0;
  for (const list_item& item : list) {
    if (item.begins_node) ++seen;
    const bool is_first = 2 * seen <= all + 1;
    part& to = is_first ? out.first : out.second;
    to.samples += item.samples;
    if (item.begins_node) ++to.nodes;
    (is_first ? first : second).add_message(field, item.message.data(), item.message.size());
  }
  out.first.body = pack(out.first.body);
  out.second.body = pack(out.second.body);
  return out;
}

}  // namespace binnacle::sender
