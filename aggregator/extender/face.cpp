#include "aggregator/extender/face.hpp"

#include "aggregator/extender/answer.hpp"
#include "aggregator/extender/filter.hpp"
#include "aggregator/extender/preempt.hpp"
#include "aggregator/extender/prioritize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace binnacle::extender {
namespace {

/// Why the body cannot be read, judged by the headers; empty if it can. A charset or another parameter is
/// accepted, and so is a missing content type.
std::string unreadable(const http::request& r) {
  if (const std::string* type = r.header("content-type")) {
    std::string_view essence = std::string_view(*type).substr(0, type->find(';'));
    while (!essence.empty() && (essence.back() == ' ' || essence.back() == '\t')) essence.remove_suffix(1);
    if (!same_key(essence, "application/json"))
      return fmt::format("Content-Type {} is not understood: send application/json", *type);
  }
  if (const std::string* coding = r.header("content-encoding");
      coding != nullptr && !same_key(*coding, "identity")) {
    return fmt::format("Content-Encoding {} is not understood: send the body uncompressed", *coding);
  }
  return {};
}

/// The body's announced length, as a hint for reserving memory; at most the length of the names of 20,000
/// nodes.
std::size_t announced(const http::request& r) {
  constexpr std::size_t most = 1u << 20;
  std::size_t length = 0;
  if (const std::string* text = r.header("content-length"))
    std::from_chars(text->data(), text->data() + text->size(), length);
  return std::min(length, most);
}

}  // namespace

face::face(const policy::view& data, decision::ring& decisions, options settings,
           std::function<instant()> clock, logger log)
    : shared_{data, decisions, std::move(settings), std::move(clock), std::move(log)} {}

void face::routes(http::router& to) {
  for (const decision::verb verb : decision::all_verbs) {
    to.add_streaming(
        "POST", fmt::format("/scheduler/{}", to_string(verb)),
        [this, verb](const http::request& r) { return begin(verb, r); }, shared_.settings.limits.bytes);
  }
}

std::unique_ptr<http::exchange> face::begin(decision::verb verb, const http::request& r) {
  if (std::string problem = unreadable(r); !problem.empty())
    return refuse(shared_, verb, 415, std::move(problem));
  switch (verb) {
    case decision::verb::filter: return make_filter(shared_, announced(r));
    case decision::verb::prioritize: return make_prioritize(shared_, announced(r));
    case decision::verb::preempt: break;
  }
  return make_preempt(shared_);
}

}  // namespace binnacle::extender
