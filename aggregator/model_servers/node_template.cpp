#include "aggregator/model_servers/node_template.hpp"

#include "common/text/json_members.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_selector = std::size_t{64} << 10;

/// The n-th part of a dotted quad; "x" if the address is not one.
std::string octet(std::string_view address, std::size_t n) {
  std::array<std::string_view, 4> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto dot = i + 1 < parts.size() ? address.find('.') : address.size();
    if (dot == address.npos) return "x";
    parts[i] = address.substr(0, dot);
    address.remove_prefix(std::min(address.size(), dot + 1));
    if (!read_number<std::uint8_t>(parts[i])) return "x";
  }
  return std::string(parts[n]);
}

/// The value of one word of an action: a variable, a text in quotes or a number. Nothing if it is something
/// else.
std::optional<std::string> value_of(std::string_view word, const template_values& of) {
  if (word == ".Hostname") return std::string(of.hostname.empty() ? "undefined.example.com" : of.hostname);
  if (word == ".IPv4.Address") return std::string(of.address.empty() ? "x.x.x.x" : of.address);
  constexpr std::string_view octets = ".IPv4.Octet";
  if (word.starts_with(octets) && word.size() == octets.size() + 1 && word.back() >= '1' &&
      word.back() <= '4')
    return octet(of.address, static_cast<std::size_t>(word.back() - '1'));
  if (word.size() >= 2 && word.starts_with('"') && word.ends_with('"') && word.find('\\') == word.npos)
    return std::string(word.substr(1, word.size() - 2));
  if (!word.empty() && word.find_first_not_of("0123456789") == word.npos) return std::string(word);
  return std::nullopt;
}

/// As sprig's toInt64: a text that is not a number gives 0.
std::int64_t integer_of(std::string_view text) { return read_number<std::int64_t>(text).value_or(0); }

/// The words of an action. Blanks inside quotes belong to a word.
std::vector<std::string_view> words_of(std::string_view action) {
  std::vector<std::string_view> out;
  while (true) {
    action = trimmed(action);
    if (action.empty()) return out;
    std::size_t end = action.find_first_of(" \t\n");
    if (action.front() == '"') {
      end = action.find('"', 1);
      if (end != action.npos) ++end;
    }
    out.push_back(action.substr(0, end));
    action.remove_prefix(std::min(action.size(), end));
  }
}

std::optional<std::string> result_of(std::string_view action, const template_values& of) {
  const auto words = words_of(action);
  if (words.size() == 1) return value_of(words[0], of);
  std::vector<std::string> values;
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto v = value_of(words[i], of);
    if (!v) return std::nullopt;
    values.push_back(*std::move(v));
  }
  if (values.size() == 2 && words[0] == "trimPrefix")
    return values[1].starts_with(values[0]) ? values[1].substr(values[0].size()) : values[1];
  if (!values.empty() && words[0] == "add") {
    // Sums that are too large wrap around, as in Go.
    const auto sum = std::accumulate(values.begin(), values.end(), std::uint64_t{0},
                                     [](std::uint64_t so_far, const std::string& v) {
                                       return so_far + static_cast<std::uint64_t>(integer_of(v));
                                     });
    return std::to_string(static_cast<std::int64_t>(sum));
  }
  return std::nullopt;
}

/// The texts in a NodeConfig's spec that we use and that may depend on the node.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> terms{
    {{"predictor", "powerConsumption"},
     {"predictor", "powerConsumptionEndpointProvider"},
     {"metricsCollector", "inletTemp"},
     {"metricsCollector", "deltaP"}}};

/// Only what is read of a NodeConfig's spec. The rest may be large, and would be copied for each node.
json::object essence_of(const json::object& spec) {
  json::object out;
  for (const auto& [part, term] : terms) {
    const json::object* inside = object_in(spec, part);
    const json::object* given = inside == nullptr ? nullptr : object_in(*inside, term);
    if (given == nullptr) continue;
    json::value& whole = out[part];
    json::object& kept = whole.is_object() ? whole.get_object() : whole.emplace_object();
    json::object& own = kept[term].emplace_object();
    own["type"].emplace_string() = text_in(*given, "type");
    if (part != "predictor") continue;  // of collectors only the type counts
    own["endpoint"].emplace_string() = text_in(*given, "endpoint");
    if (const json::object* secret = object_in(*given, "basicAuthSecret"))
      own["basicAuthSecret"].emplace_object()["name"].emplace_string() = text_in(*secret, "name");
  }
  return out;
}

/// Calls `f(text)` for each of the texts that may depend on the node; `f` may change it. Errors: those of
/// `f`.
template <class F>
result<void> each_text(json::object& spec, F&& f) {
  for (const auto& one : terms) {
    // Not a structured binding: a lambda of clang 14 cannot capture one.
    const std::string_view part = one.first, term = one.second;
    json::value* outer = spec.if_contains(part);
    json::object* inside = outer == nullptr ? nullptr : outer->if_object();
    json::value* inner = inside == nullptr ? nullptr : inside->if_contains(term);
    json::object* given = inner == nullptr ? nullptr : inner->if_object();
    if (given == nullptr) continue;
    const auto read = [&](json::object& from, std::string_view name,
                          std::string_view where = "") -> result<void> {
      json::value* text = from.if_contains(name);
      if (text == nullptr || !text->is_string()) return {};
      auto done = f(text->get_string());
      if (done.has_error())
        return invalid(fmt::format("{}.{}{}.{}: {}", part, term, where, name, done.error().message));
      return {};
    };
    if (auto done = read(*given, "type"); done.has_error()) return done;
    // Collectors are not asked for values.
    if (part != "predictor") continue;
    if (auto done = read(*given, "endpoint"); done.has_error()) return done;
    json::value* const secret = given->if_contains("basicAuthSecret");
    if (secret == nullptr || !secret->is_object()) continue;
    if (auto done = read(secret->get_object(), "name", ".basicAuthSecret"); done.has_error()) return done;
  }
  return {};
}

/// Reads a LabelSelector object. Errors: a clause.
result<questions::selector> selector_in(const json::object* from) {
  if (from == nullptr) return invalid("it has no nodeSelector");
  const auto is_long = [](std::string_view text) { return text.size() > longest_text; };
  const auto too_long = [] {
    return invalid(fmt::format("its nodeSelector has a key or a value of more than {} bytes", longest_text));
  };
  std::vector<std::string> all;
  if (const json::object* labels = object_in(*from, "matchLabels")) {
    for (const auto& one : *labels) {
      if (!one.value().is_string()) return invalid("its nodeSelector has a label that is no text");
      const std::string_view key(one.key()), value(one.value().get_string());
      if (is_long(key) || is_long(value)) return too_long();
      all.push_back(fmt::format("{}={}", key, value));
    }
  }
  for (const json::value& one : array_in(*from, "matchExpressions")) {
    const json::object* e = one.if_object();
    const std::string_view key = e == nullptr ? "" : text_in(*e, "key");
    const std::string_view op = e == nullptr ? "" : text_in(*e, "operator");
    std::vector<std::string> values;
    if (e != nullptr) {
      for (const json::value& v : array_in(*e, "values")) {
        if (v.is_string()) values.emplace_back(v.get_string());
      }
    }
    if (is_long(key) || std::ranges::any_of(values, is_long)) return too_long();
    if (op == "In" || op == "NotIn") {
      all.push_back(fmt::format("{} {} ({})", key, op == "In" ? "in" : "notin", fmt::join(values, ",")));
    } else if (op == "Exists" || op == "DoesNotExist") {
      all.push_back(fmt::format("{}{}", op == "Exists" ? "" : "!", key));
    } else {
      return invalid(
          fmt::format("its nodeSelector has the operator {}, which Kubernetes does not know", in_quotes(op)));
    }
  }
  const std::string text = fmt::format("{}", fmt::join(all, ","));
  if (text.size() > longest_selector)
    return invalid(fmt::format("its nodeSelector has more than {} KiB", longest_selector >> 10));
  auto read = questions::selector::parse(text);
  if (read.has_error()) return invalid("its nodeSelector cannot be read: " + read.error().message);
  return read;
}

}  // namespace

result<std::string> fill_in(std::string_view text, const template_values& of) {
  std::string out;
  for (;;) {
    const auto begin = text.find("{{");
    out += text.substr(0, begin);
    if (begin == text.npos) return out;
    const auto end = text.find("}}", begin);
    const std::string_view action = text.substr(begin, end == text.npos ? text.npos : end + 2 - begin);
    const auto made = end == text.npos ? std::nullopt : result_of(action.substr(2, action.size() - 4), of);
    if (!made)
      return invalid(
          fmt::format("{} is not filled in: of templates only .Hostname, .IPv4.Address, .IPv4.Octet1 to "
                      "Octet4, trimPrefix and add are; write NodeConfig objects for its nodes",
                      in_quotes(action)));
    out += *made;
    text.remove_prefix(begin + action.size());
  }
}

result<node_template> node_template::read(const kube::object_key& key, const json::object& spec) {
  auto selector = selector_in(object_in(spec, "nodeSelector"));
  if (selector.has_error()) return selector.error();
  const json::object* body = object_in(spec, "template");
  if (body == nullptr) return invalid("it has no template");
  node_template out;
  out.object_ = "NodeConfigTemplate " + key.text();
  out.name_space_ = key.name_space;
  out.selector_ = std::move(*selector);
  out.spec_ = essence_of(*body);
  bool same = true;
  const auto looked = each_text(out.spec_, [&](const json::string& text) -> result<void> {
    const std::string_view words(text);
    if (words.size() > longest_text) return invalid(fmt::format("it has more than {} bytes", longest_text));
    same = same && words.find("{{") == words.npos;
    out.needs_address_ = out.needs_address_ || words.find(".IPv4") != words.npos;
    // If a text cannot be filled in for one node, it cannot be filled in for any.
    const auto tried = fill_in(words, {});
    if (tried.has_error()) return tried.error();
    return {};
  });
  if (looked.has_error()) return looked.error();
  if (!same) return out;
  out.of_all_ = read_node_config(out.object_, out.name_space_, out.spec_);
  if (out.of_all_->model.has_error()) return out.of_all_->model.error();
  return out;
}

named_model node_template::model_of(const template_values& node) const {
  if (of_all_) return *of_all_;
  json::object filled = spec_;
  (void)each_text(filled, [&node](json::string& text) -> result<void> {
    auto made = fill_in(std::string_view(text), node);
    if (made.has_error()) return made.error();
    text = std::string_view(*made);
    return {};
  });
  return read_node_config(object_, name_space_, filled);
}

}  // namespace binnacle::model_servers
