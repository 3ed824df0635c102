#pragma once

#include "aggregator/extender/name_list.hpp"
#include "aggregator/extender/object_handler.hpp"
#include "aggregator/extender/repeats.hpp"

#include <boost/json/basic_parser.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::extender {

inline constexpr std::string_view preempt_shape =
    "expected ExtenderPreemptionArgs: an object with Pod and NodeNameToMetaVictims or NodeNameToVictims";

/// Limits on what is kept of one preempt call.
struct preempt_limits {
  std::size_t nodes = 100'000;
  /// Bytes of the nodes' names and of the victims' UIDs, as they came and as they are answered: a byte may
  /// become six (\u007f).
  std::size_t text = 32u << 20;
};

/// Boost.JSON's SAX callbacks for ExtenderPreemptionArgs. Of the Pod it keeps what object_handler keeps; of
/// each node its name, the UIDs of its victims and numPDBViolations. Whole Pods of victims pass through.
class preempt_handler {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  explicit preempt_handler(preempt_limits limits) : limits_(limits) {}

  bool has_pod() const noexcept { return has_pod_; }
  const object_meta& pod() const noexcept { return pod_; }
  bool has_nodes() const noexcept { return has_nodes_; }  ///< one of the two maps was there, perhaps empty
  const name_list& nodes() const noexcept { return nodes_; }
  /// nodes()[i] and the victims there, as the answer has them:
  /// "n1":{"Pods":[{"UID":"…"}],"NumPDBViolations":0}.
  std::string_view entry(std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  /// Why it stopped the parser, in one sentence; empty if it did not.
  const std::string& problem() const noexcept { return problem_; }
  bool too_large() const noexcept { return too_large_; }  ///< the problem is that a limit was exceeded
  /// The value that is being read, for messages.
  std::string where() const;

  using error_code = boost::json::error_code;
  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& ec) { return inner_ != 0 ? inner_begins(false, ec) : opens(false, ec); }
  bool on_object_end(std::size_t n, error_code& ec) { return inner_ != 0 ? inner_ends(n, ec) : closes(ec); }
  bool on_array_begin(error_code& ec) { return inner_ != 0 ? inner_begins(true, ec) : opens(true, ec); }
  bool on_array_end(std::size_t n, error_code& ec) { return inner_ != 0 ? inner_ends(n, ec) : closes(ec); }
  bool on_key_part(std::string_view s, std::size_t n, error_code& ec);
  bool on_key(std::string_view s, std::size_t n, error_code& ec);
  bool on_string_part(std::string_view s, std::size_t n, error_code& ec);
  bool on_string(std::string_view s, std::size_t n, error_code& ec);
  bool on_number_part(std::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t i, std::string_view s, error_code& ec);
  bool on_uint64(std::uint64_t i, std::string_view s, error_code& ec);
  bool on_double(double d, std::string_view s, error_code& ec);
  bool on_bool(bool b, error_code& ec);
  bool on_null(error_code& ec);
  bool on_comment_part(std::string_view, error_code&) { return true; }
  bool on_comment(std::string_view, error_code&) { return true; }

 private:
  /// Which of the brackets that are read here we are in.
  enum class level : std::uint8_t { outside, args, map, victims, pods, meta_pod };
  /// What the next value is.
  enum class slot : std::uint8_t { args, pod, map, victims, pods, victim, uid, violations, skip };

  slot next() const noexcept;
  bool opens(bool array, error_code& ec);
  bool closes(error_code& ec);
  bool begin_inner(bool reads, bool array, error_code& ec);
  bool inner_begins(bool array, error_code& ec);
  bool inner_ends(std::size_t n, error_code& ec);
  void add_to_key(std::string_view s);
  bool key_ended(error_code& ec);
  bool key_of_args(error_code& ec);
  bool key_of_node(error_code& ec);
  bool key_of_victims(error_code& ec);
  bool first_time(std::uint8_t bit, std::uint8_t& seen, error_code& ec);
  void begin_node();
  bool end_node(error_code& ec);
  bool add_victim(std::string_view uid, error_code& ec);
  bool text_of(std::string_view s, error_code& ec);
  bool is_skipped_or_wrong(std::string_view kind, error_code& ec);
  bool wrong_kind(std::string_view kind, error_code& ec);
  bool fits(error_code& ec);
  bool fail(std::string sentence, error_code& ec);
  /// The map that is being read.
  std::string_view map_name() const noexcept {
    return whole_pods_ ? "NodeNameToVictims" : "NodeNameToMetaVictims";
  }
  std::string_view node() const noexcept { return nodes_[nodes_.size() - 1]; }  ///< the last one

  preempt_limits limits_;
  level level_ = level::outside;
  slot slot_ = slot::skip;    // what the last key announced
  bool whole_pods_ = false;   // the map is NodeNameToVictims
  int inner_ = 0;             // how deep we are in a value that is not read here
  bool reads_inner_ = false;  // object_ reads that value; otherwise it is skipped
  object_handler object_;
  std::string key_;  // so far
  std::string uid_;
  bool has_pod_ = false, has_nodes_ = false;
  std::uint8_t seen_args_ = 0, seen_victims_ = 0;  // a bit for each known key
  object_meta pod_;
  name_list nodes_;
  repeats seen_nodes_;
  bool any_victim_ = false;        // at the last node
  std::int64_t violations_ = 0;    // at the last node
  std::string text_;               // entry() of all nodes
  std::vector<std::size_t> ends_;  // of each node in text_
  std::string problem_;
  bool too_large_ = false;
};

}  // namespace binnacle::extender
