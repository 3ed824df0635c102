#include "aggregator/kube/json.hpp"

#include <boost/json/parse.hpp>

namespace binnacle::kube {
namespace {

namespace json = boost::json;

json::parse_options deep() {
  json::parse_options out;
  out.max_depth = 128;  // managedFields of a pod template
  return out;
}

}  // namespace

const json::object* object_in(const json::object& from, std::string_view name) {
  const json::value* v = from.if_contains(name);
  return v == nullptr ? nullptr : v->if_object();
}

std::string_view text_in(const json::object& from, std::string_view name) {
  const json::value* v = from.if_contains(name);
  const json::string* s = v == nullptr ? nullptr : v->if_string();
  return s == nullptr ? std::string_view() : std::string_view(s->data(), s->size());
}

std::optional<std::int64_t> integer_in(const json::object& from, std::string_view name) {
  const json::value* v = from.if_contains(name);
  if (v == nullptr || !v->is_number()) return std::nullopt;
  json::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  return ec ? std::nullopt : std::optional(n);
}

result<json::object> parse_object(std::string_view text) {
  json::error_code ec;
  json::value v = json::parse(text, ec, {}, deep());
  if (ec) return error{errc::protocol, "the answer is not JSON: " + ec.message()};
  if (!v.is_object()) return error{errc::protocol, "the answer is not a JSON object"};
  return std::move(v.as_object());
}

object_stream::object_stream() : parser_(json::storage_ptr(), deep()) {}

result<void> object_stream::feed(std::string_view bytes,
                                 const std::function<bool(const json::object&)>& each) {
  while (!bytes.empty()) {
    if (size_ == 0) {
      const auto begin = bytes.find_first_not_of(" \t\r\n");
      if (begin == std::string_view::npos) return {};
      bytes.remove_prefix(begin);
    }
    json::error_code ec;
    const std::size_t used = parser_.write_some(bytes.data(), bytes.size(), ec);
    if (ec) return error{errc::protocol, "the stream is not JSON: " + ec.message()};
    size_ += used;
    bytes.remove_prefix(used);
    if (size_ > most_bytes)
      return error{errc::overloaded, "the API server sent an object larger than 8 MiB, which is not read"};
    if (!parser_.done()) continue;
    const json::value v = parser_.release();
    parser_.reset();
    size_ = 0;
    const json::object* object = v.if_object();
    if (object == nullptr)
      return error{errc::protocol, "the API server's stream has something that is not an object"};
    if (!each(*object)) return {};
  }
  return {};
}

}  // namespace binnacle::kube
