#include "aggregator/model_servers/question.hpp"

#include "common/text/json_members.hpp"
#include "common/text/json_reader.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

// What a server draws at least and at most. A model in kilowatts says less than a watt.
constexpr double least_watts = 1;
constexpr double most_watts = 100'000;
/// How far watts may lie below those of lower loads, in the mean of all loads, as a share of them: models of
/// trees have dips. Lifted to a curve that never falls, a model that fell further would be flat over most
/// loads, and its node free of charge.
constexpr double most_lifted = 0.1;
/// By how much watts rise up to half load, at least. The flattest of WAO's own models rises by 12 %. A node
/// whose model is flatter would be free of charge up to there.
constexpr double least_rise = 0.03;
constexpr unsigned deepest = 3;  // outputs, rows, columns

/// Reads the numbers of a list, nested or flat, row by row. False: something in it is not a number.
bool flatten(const json::value& v, unsigned depth, std::vector<double>& out) {
  if (v.is_number()) {
    out.push_back(v.to_number<double>());
    return true;
  }
  const json::array* list = v.if_array();
  if (list == nullptr || depth == deepest) return false;
  return std::ranges::all_of(*list, [&](const json::value& one) { return flatten(one, depth + 1, out); });
}

/// outputs[0].data, or the output named predict if there are several.
const json::value* v2_data(const json::object& answer) {
  const json::array& outputs = array_in(answer, "outputs");
  const json::object* chosen = outputs.empty() ? nullptr : outputs.front().if_object();
  for (const json::value& one : outputs) {
    const json::object* o = one.if_object();
    if (o != nullptr && text_in(*o, "name") == "predict") chosen = o;
  }
  return chosen == nullptr ? nullptr : chosen->if_contains("data");
}

/// `outputs` (by columns, with names if the model has several) or `predictions` (by rows).
const json::value* tf_data(const json::object& answer) {
  const json::value* outputs = answer.if_contains("outputs");
  if (outputs == nullptr) outputs = answer.if_contains("predictions");
  if (outputs == nullptr || !outputs->is_object()) return outputs;
  const json::object& named = outputs->get_object();
  if (const json::value* usual = named.if_contains("outputs")) return usual;  // of WAO's models
  return named.empty() ? nullptr : &named.begin()->value();
}

}  // namespace

std::array<double, 4> inputs_at(const question& q, std::size_t i) {
  const double load = q.top * static_cast<double>(i) / static_cast<double>(points - 1);
  return {load, q.others[0], q.others[1], q.others[2]};
}

std::string body_of(const question& q, std::size_t first, std::size_t count, const model_input& input) {
  std::string rows;
  for (std::size_t i = 0; i < count; ++i) {
    const auto inputs = inputs_at(q, first + i);
    rows += fmt::format("{}[{:.6g}", i == 0 ? "" : ",", inputs[0]);
    for (std::size_t k = 1; k <= q.count; ++k) rows += fmt::format(",{:.6g}", inputs[k]);
    rows += ']';
  }
  if (q.model.speaks == protocol::v2) {
    std::string out = R"({"inputs":[{"name":)";
    append_json_string(out, input.name);
    const char* const type = input.fp64 ? "FP64" : "FP32";
    if (input.of == model_input::shape::bare)
      return out + fmt::format(R"(,"shape":[{}],"datatype":"{}","data":{}}}]}})", q.count + 1, type, rows);
    return out + fmt::format(R"(,"shape":[{},{}],"datatype":"{}","data":[{}]}}]}})", count, q.count + 1, type,
                             rows);
  }
  std::string out = "{";
  if (!q.model.signature.empty()) {
    out += "\"signature_name\":";
    append_json_string(out, q.model.signature);
    out += ',';
  }
  return out + fmt::format(R"("inputs":[{}]}})", rows);
}

result<model_answer> answer_in(protocol speaks, std::string_view body, std::size_t count) {
  const auto parsed = read_json(body);
  if (parsed.has_error()) {
    // TensorFlow Serving writes these words without quotes, which is not JSON.
    if (body.find("NaN") != body.npos || body.find("Infinity") != body.npos)
      return error{errc::invalid_input, "the model says NaN or Infinity"};
    return error{errc::protocol, "the answer is no JSON"};
  }
  const json::object* whole = parsed->if_object();
  const json::value* data = whole == nullptr         ? nullptr
                            : speaks == protocol::v2 ? v2_data(*whole)
                                                     : tf_data(*whole);
  model_answer out;
  if (data == nullptr || !data->is_array())
    return error{errc::protocol, "the answer has no list of watts where the protocol has it"};
  if (!flatten(*data, 0, out.watts)) return error{errc::invalid_input, "the model says what is no number"};
  if (out.watts.size() != count)
    return error{out.watts.size() < count ? errc::unsupported : errc::protocol,
                 fmt::format("the answer has {} values for {} loads", out.watts.size(), count)};
  if (speaks == protocol::v2)
    out.version = clip(text_in(*whole, "model_version"), model_answer::longest_version);
  return out;
}

std::string refusal_in(std::string_view body) {
  const auto parsed = read_json(body);
  if (parsed.has_value() && parsed->is_object()) {
    for (const std::string_view key : {"error", "detail"}) {
      const json::value* said = parsed->get_object().if_contains(key);
      if (said == nullptr) continue;
      if (said->is_string()) return in_quotes(std::string_view(said->get_string()), 120);
      return in_quotes(json::serialize(*said), 120);
    }
  }
  return in_quotes(trimmed(body), 120);
}

result<predict::curve> curve_of(const std::vector<double>& watts, double cores) {
  for (std::size_t i = 0; i < watts.size(); ++i) {
    if (watts[i] >= least_watts && watts[i] <= most_watts) continue;
    return error{errc::invalid_input,
                 fmt::format("the model says {:.6g} W at {:.0f} % load, which no server draws{}", watts[i],
                             100.0 * static_cast<double>(i) / static_cast<double>(watts.size() - 1),
                             watts[i] > 0 && watts[i] < least_watts ? ": does it answer in kilowatts?" : "")};
  }
  double highest = 0, below = 0, all = 0;
  for (const double w : watts) {
    highest = std::max(highest, w);
    below += highest - w;
    all += w;
  }
  if (below > most_lifted * all)
    return error{errc::invalid_input, "the model's watts fall over much of the range of loads"};
  const auto beyond_half = watts.begin() + static_cast<std::ptrdiff_t>(watts.size() / 2 + 1);
  if (*std::max_element(watts.begin(), beyond_half) < (1 + least_rise) * watts.front())
    return error{
        errc::invalid_input,
        fmt::format("the model's watts rise by less than {:.0f} % up to half load, as no server's do: "
                    "does it want the load in the other cpuFormat?",
                    100 * least_rise)};
  return predict::curve::through(watts, cores);
}

}  // namespace binnacle::model_servers
