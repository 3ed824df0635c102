#include "aggregator/kube/json.hpp"

#include "common/text/json_members.hpp"

namespace binnacle::kube {
namespace json = boost::json;

const json::object* condition_in(const json::object& status, std::string_view type) {
  for (const json::value& one : array_in(status, "conditions")) {
    const json::object* c = one.if_object();
    if (c != nullptr && text_in(*c, "type") == type) return c;
  }
  return nullptr;
}

result<json::object> parse_object(std::string_view text) {
  std::vector<json_reader::cut> nobody_asks;
  return parse_object(text, nobody_asks);
}

result<json::object> parse_object(std::string_view text, std::vector<json_reader::cut>& cuts) {
  object_reader reader;
  reader.feed(text);
  return reader.finish(cuts);
}

void object_reader::feed(std::string_view bytes) {
  if (trouble_) return;
  const bool was_complete = reader_.is_complete();
  const auto used = was_complete ? result<std::size_t>(0) : reader_.read(bytes, true);
  if (used.has_error()) {
    trouble_ = error{errc::protocol, "the answer is not JSON: " + used.error().message};
  } else if (bytes.find_first_not_of(" \t\r\n", *used) != bytes.npos) {
    trouble_ = error{errc::protocol, "the answer is not JSON: more follows behind it"};
  }
}

result<json::object> object_reader::finish(std::vector<json_reader::cut>& cuts) {
  if (!trouble_ && !reader_.is_complete()) {
    if (const auto end = reader_.read({}, false); end.has_error())
      trouble_ = error{errc::protocol, "the answer is not JSON: " + end.error().message};
  }
  if (trouble_) return *trouble_;
  json::value v = reader_.take();
  cuts = reader_.take_cuts();
  if (!v.is_object()) return error{errc::protocol, "the answer is not a JSON object"};
  return std::move(v.as_object());
}

result<void> object_stream::feed(std::string_view bytes,
                                 const std::function<bool(const json::object&)>& each) {
  while (!bytes.empty()) {
    if (size_ == 0) {
      const auto begin = bytes.find_first_not_of(" \t\r\n");
      if (begin == std::string_view::npos) return {};
      bytes.remove_prefix(begin);
    }
    const auto used = reader_.read(bytes, true);
    if (used.has_error()) return error{errc::protocol, "the stream is not JSON: " + used.error().message};
    size_ += *used;
    bytes.remove_prefix(*used);
    if (size_ > most_bytes)
      return error{errc::overloaded, "the API server sent an object larger than 8 MiB, which is not read"};
    if (!reader_.is_complete()) continue;
    const json::value v = reader_.take();
    size_ = left_out_ = 0;
    for (const json_reader::cut& c : reader_.take_cuts()) left_out_ += c.members;
    const json::object* object = v.if_object();
    if (object == nullptr)
      return error{errc::protocol, "the API server's stream has something that is not an object"};
    if (!each(*object)) return {};
  }
  return {};
}

}  // namespace binnacle::kube
