#include "common/config/config.hpp"
#include "common/system/read_file.hpp"
#include "common/text/load_yaml.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>

namespace binnacle {
namespace {

constexpr std::size_t most_bytes = 1u << 20;

result<std::string> read_whole(const std::string& path) {
  auto text = read_file(path, most_bytes);
  if (text.has_value()) return text;
  if (text.error().code == errc::overloaded)
    return error{errc::invalid_input,
                 fmt::format("{} is larger than 1 MiB: is it the configuration file?", path)};
  return error{text.error().code,
               fmt::format("cannot read configuration file {}: {}", path, text.error().message)};
}

}  // namespace

result<void> config_spec::read_file(const std::string& path, std::vector<given>& out) const {
  const auto text = read_whole(path);
  if (!text) return text.error();
  const auto refuse = [&](int line, std::string_view what) {
    return error{errc::invalid_input, fmt::format("{} line {}: {}", path, line + 1, what)};
  };
  try {
    const std::vector<YAML::Node> documents = load_all_yaml(*text);
    if (documents.size() > 1)
      return refuse(documents[1].Mark().line, "a second document begins: put all keys into one");
    if (documents.empty() || documents[0].IsNull()) return {};
    const YAML::Node& root = documents[0];
    if (!root.IsMap()) return refuse(root.Mark().line, "write one \"key: value\" on each line");

    std::map<std::string, int> seen;  // key to line
    for (const auto& entry : root) {
      const int line = entry.first.Mark().line;
      if (!entry.first.IsScalar()) return refuse(line, "a key must be a word");
      const std::string& key = entry.first.Scalar();
      const setting* s = find(key);
      if (s == nullptr) {
        const std::string near = nearest(key, false);
        return refuse(line, fmt::format("unknown key {}: {}", in_quotes(key),
                                        near.empty() ? "--print-config lists all keys"
                                                     : fmt::format("did you mean \"{}\"?", near)));
      }
      if (const auto [at, fresh] = seen.emplace(key, line); !fresh) {
        return refuse(line, fmt::format("\"{}\" is given a second time, first in line {}: remove one", key,
                                        at->second + 1));
      }

      const YAML::Node& node = entry.second;
      texts values;
      if (node.IsScalar()) {
        values.push_back(node.Scalar());
      } else if (node.IsSequence() && s->is_list) {
        for (const auto& element : node) {
          if (!element.IsScalar())
            return refuse(element.Mark().line, fmt::format("an element of \"{}\" is not text", key));
          values.push_back(element.Scalar());
        }
      } else {
        const std::string_view what = node.IsNull()  ? "has no value"
                                      : node.IsMap() ? "has keys below it"
                                                     : "is a list";
        return refuse(line, fmt::format("\"{}\" {}: give {}", key, what, s->form));
      }
      if (!s->accept(values, false))
        return refuse(line,
                      fmt::format("\"{}\" is {}: give {}", key, in_quotes(values.back(), 253), s->form));
      out.push_back({s, std::move(values)});
    }
  } catch (const YAML::Exception& e) {
    return refuse(std::max(e.mark.line, 0), fmt::format("no valid YAML: {}", e.msg));
  }
  return {};
}

}  // namespace binnacle
