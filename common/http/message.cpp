#include "common/http/message.hpp"

#include "common/text/json_writer.hpp"

#include <algorithm>

namespace binnacle::http {
namespace {

const std::string* first(const std::vector<std::pair<std::string, std::string>>& in,
                         std::string_view name) noexcept {
  const auto at =
      std::find_if(in.begin(), in.end(), [name](const auto& entry) { return entry.first == name; });
  return at == in.end() ? nullptr : &at->second;
}

}  // namespace

const std::string* request::header(std::string_view name) const noexcept { return first(headers, name); }
const std::string* request::parameter(std::string_view name) const noexcept { return first(query, name); }

std::string request::decoded_path() const {
  std::string out;
  for (const auto& segment : path) {
    out.push_back('/');
    out += segment;
  }
  return out.empty() ? "/" : out;
}

response response::failure(unsigned status, std::string_view sentence) {
  std::string text = "{\"error\":";
  append_json_string(text, sentence);
  text += "}\n";
  return json(std::move(text), status);
}

}  // namespace binnacle::http
