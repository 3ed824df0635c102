#include "aggregator/kube/json.hpp"

#include "common/text/json_members.hpp"

namespace binnacle::kube {
namespace json = boost::json;

namespace {

error not_json(const error& why) { return {errc::protocol, "the answer is not JSON: " + why.message}; }

}  // namespace

const json::object* condition_in(const json::object& status, std::string_view type) {
  for (const json::value& one : array_in(status, "conditions")) {
    const json::object* c = one.if_object();
    if (c != nullptr && text_in(*c, "type") == type) return c;
  }
  return nullptr;
}

result<json::object> parse_object(std::string_view text) {
  auto value = read_json(text);
  if (value.has_error()) return not_json(value.error());
  if (!value->is_object()) return error{errc::protocol, "the answer is not a JSON object"};
  return std::move(value->as_object());
}

void list_reader::feed(std::string_view bytes) {
  if (trouble_) return;
  const bool was_complete = reader_.is_complete();
  const auto used = was_complete ? result<std::size_t>(0) : reader_.read(bytes, true);
  if (used.has_error()) {
    trouble_ = not_json(used.error());
  } else if (bytes.find_first_not_of(" \t\r\n", *used) != bytes.npos) {
    trouble_ = not_json({errc::protocol, "more follows behind it"});
  }
}

result<json::object> list_reader::finish() {
  if (!trouble_ && !reader_.is_complete()) {
    if (const auto end = reader_.read({}, false); end.has_error()) trouble_ = not_json(end.error());
  }
  if (trouble_) return *trouble_;
  json::value v = reader_.take();
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
      return error{errc::overloaded, "the API server sent an object larger than 12 MiB, which is not read"};
    if (!reader_.is_complete()) continue;
    const json::value v = reader_.take();
    size_ = 0;
    const json::object* object = v.if_object();
    if (object == nullptr)
      return error{errc::protocol, "the API server's stream has something that is not an object"};
    if (!each(*object)) return {};
  }
  return {};
}

}  // namespace binnacle::kube
