#pragma once

#include "aggregator/extender/args_parser.hpp"
#include "aggregator/extender/preempt_handler.hpp"
#include "common/error.hpp"

#include <boost/json/basic_parser.hpp>

#include <string>
#include <string_view>

namespace binnacle::extender {

/// Reads ExtenderPreemptionArgs {Pod, NodeNameToVictims | NodeNameToMetaVictims} from a body that comes in
/// pieces of any size, without keeping it.
/// Shape:  as args_parser has it: keys are matched without case and in any order, unknown ones are skipped,
///         text after the object is ignored. A key or a node that comes twice is refused. If both maps are
///         there, the nodes of both count.
/// Source: k8s.io/kube-scheduler/extender/v1, types.go (no JSON tags: Go's field names).
class preempt_parser {
 public:
  /// Of `limits`, those on bytes and depth count.
  preempt_parser(const args_limits& limits, const preempt_limits& kept);

  /// Reads the next piece of the body. False: the request is wrong (see finish()), and further pieces are
  /// ignored.
  bool consume(std::string_view piece);
  /// The body has ended. Errors: invalid_input with one sentence, if the body is empty, cut off, has a wrong
  /// form, has no Pod or neither map.
  result<void> finish();

  /// Complete once finish() has found nothing wrong.
  const preempt_handler& args() const noexcept { return document_.handler(); }
  bool too_large() const noexcept { return too_large_; }  ///< a limit was exceeded: 413 rather than 400

 private:
  bool fail(std::string sentence);

  args_limits limits_;
  boost::json::basic_parser<preempt_handler> document_;
  std::size_t bytes_ = 0;  // of the body so far
  std::string problem_;
  bool too_large_ = false;
};

}  // namespace binnacle::extender
