#include "aggregator/model_servers/model_input.hpp"

#include "common/text/json_members.hpp"
#include "common/text/json_reader.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_name = 256;

std::optional<std::string> text_of(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr || !v->is_string()) return std::nullopt;
  return std::string(std::string_view(v->get_string()));
}

std::optional<described_input> described(const json::value& v) {
  const json::object* o = v.if_object();
  if (o == nullptr) return std::nullopt;
  const json::value* shape = o->if_contains("shape");
  auto name = text_of(*o, "name"), datatype = text_of(*o, "datatype");
  if (!name || !datatype || shape == nullptr || !shape->is_array()) return std::nullopt;
  described_input out{std::move(*name), std::move(*datatype), {}};
  for (const json::value& size : shape->get_array()) {
    if (!size.is_int64()) return std::nullopt;
    if (out.shape.size() == most_sizes) break;
    out.shape.push_back(size.get_int64());
  }
  return out;
}

std::optional<model_input::shape> fitting(std::span<const std::int64_t> shape, std::int64_t numbers) {
  const auto takes_them = [numbers](std::int64_t size) { return size == numbers || size == -1; };
  if (shape.size() == 1 && shape[0] == numbers) return model_input::shape::bare;
  if (shape.size() != 2 || !takes_them(shape[1])) return std::nullopt;
  if (shape[0] == -1) return model_input::shape::rows;
  if (shape[0] == 1) return model_input::shape::row;
  return std::nullopt;
}

error misfit(std::string what) { return {errc::invalid_input, "by its metadata " + std::move(what)}; }

}  // namespace

std::vector<described_input> described_in(std::string_view body) {
  const auto whole = read_json(body);
  const json::object* o = whole.has_error() ? nullptr : whole->if_object();
  if (o == nullptr) return {};
  std::vector<described_input> out;
  for (const json::value& one : array_in(*o, "inputs")) {
    auto read = described(one);
    if (!read) return {};
    out.push_back(std::move(*read));
    if (out.size() == most_inputs) break;
  }
  return out;
}

result<model_input> input_of(const std::vector<described_input>& described, std::size_t numbers) {
  model_input out;
  if (described.empty()) return out;
  const auto usual = std::ranges::find(described, out.name, &described_input::name);
  if (usual == described.end() && described.size() > 1)
    return misfit(fmt::format("the model takes {}{} inputs, and can be given one",
                              described.size() == most_inputs ? "at least " : "", described.size()));
  const described_input& one = usual == described.end() ? described.front() : *usual;
  if (one.name.size() > longest_name)
    return misfit(fmt::format("its input has a name of more than {} bytes", longest_name));
  const std::string name = in_quotes(one.name);
  if (one.datatype != "FP32" && one.datatype != "FP64")
    return misfit(fmt::format("its input {} is of type {}, and can be given FP32 or FP64", name,
                              in_quotes(one.datatype, 20)));
  const auto fits = fitting(one.shape, static_cast<std::int64_t>(numbers));
  if (!fits) {
    const auto shown = std::span(one.shape).first(std::min<std::size_t>(one.shape.size(), 8));
    return misfit(fmt::format("its input {} has the shape [{}{}], and can be given [-1,{}], [1,{}] or [{}]",
                              name, fmt::join(shown, ","), shown.size() < one.shape.size() ? ",…" : "",
                              numbers, numbers, numbers));
  }
  out.name = one.name;
  out.fp64 = one.datatype == "FP64";
  out.of = *fits;
  return out;
}

}  // namespace binnacle::model_servers
