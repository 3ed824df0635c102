#include "aggregator/extender/preempt_parser.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>

namespace binnacle::extender {
namespace {

boost::json::parse_options options_with(std::size_t depth) {
  boost::json::parse_options options;
  options.max_depth = depth;
  return options;
}

}  // namespace

preempt_parser::preempt_parser(const args_limits& limits, const preempt_limits& kept)
    : limits_(limits), document_(options_with(limits.depth), kept) {}

bool preempt_parser::consume(std::string_view piece) {
  if (!problem_.empty()) return false;
  bytes_ += piece.size();
  if (bytes_ > limits_.bytes) {
    too_large_ = true;
    return fail(fmt::format("the body is larger than the limit of {} bytes", limits_.bytes));
  }
  if (piece.empty() || document_.done()) return true;
  boost::json::error_code ec;
  document_.write_some(true, piece.data(), piece.size(), ec);
  if (!ec) return true;
  const preempt_handler& read = document_.handler();
  too_large_ = read.too_large();
  if (!read.problem().empty()) return fail(read.problem());
  if (ec == boost::json::error::too_deep)
    return fail(fmt::format("{} is nested deeper than {} levels", read.where(), limits_.depth));
  if (ec == boost::json::error::string_too_large)
    return fail(fmt::format("{} holds a name longer than {} bytes", read.where(), object_handler::max_text));
  return fail(fmt::format("{} is not JSON ({})", read.where(), ec.message()));
}

result<void> preempt_parser::finish() {
  if (problem_.empty() && !document_.done()) {
    fail(bytes_ == 0 ? fmt::format("the body is empty: {}", preempt_shape)
                     : fmt::format("the body ends after {} bytes in the middle of its JSON", bytes_));
  }
  if (problem_.empty() && !args().has_pod()) fail(fmt::format("Pod is null or absent: {}", preempt_shape));
  if (problem_.empty() && !args().has_nodes()) {
    fail(fmt::format("NodeNameToMetaVictims and NodeNameToVictims are both null or absent: {}",
                     preempt_shape));
  }
  if (!problem_.empty()) return error{errc::invalid_input, problem_};
  return {};
}

/// Returns false, for consume().
bool preempt_parser::fail(std::string sentence) {
  problem_ = std::move(sentence);
  return false;
}

}  // namespace binnacle::extender
