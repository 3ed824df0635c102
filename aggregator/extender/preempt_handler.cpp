#include "aggregator/extender/preempt_handler.hpp"

#include "common/text/json_writer.hpp"

#include <fmt/format.h>

namespace binnacle::extender {

static_assert(preempt_limits{}.nodes <= repeats::most);

preempt_handler::slot preempt_handler::next() const noexcept {
  switch (level_) {
    case level::outside: return slot::args;
    case level::map: return slot::victims;
    case level::pods: return slot::victim;
    case level::args:
    case level::victims:
    case level::meta_pod: break;
  }
  return slot_;
}

// Brackets

bool preempt_handler::opens(bool array, error_code& ec) {
  const slot what = next();
  if (what == slot::skip) return begin_inner(false, array, ec);
  if (array != (what == slot::pods)) return wrong_kind(array ? "an array" : "an object", ec);
  switch (what) {
    case slot::args: level_ = level::args; return true;
    case slot::map:
      level_ = level::map;
      has_nodes_ = true;
      return true;
    case slot::victims:
      level_ = level::victims;
      begin_node();
      return true;
    case slot::pods: level_ = level::pods; return true;
    case slot::victim:
      if (whole_pods_) return begin_inner(true, false, ec);
      level_ = level::meta_pod;
      uid_.clear();
      return true;
    case slot::pod: return begin_inner(true, false, ec);
    case slot::uid:
    case slot::violations:
    case slot::skip: break;
  }
  return wrong_kind("an object", ec);
}

bool preempt_handler::closes(error_code& ec) {
  switch (level_) {
    case level::meta_pod: level_ = level::pods; return add_victim(uid_, ec);
    case level::pods: level_ = level::victims; return true;
    case level::victims: level_ = level::map; return end_node(ec);
    case level::map: level_ = level::args; return true;
    case level::args: level_ = level::outside; return true;
    case level::outside: break;
  }
  return true;
}

bool preempt_handler::begin_inner(bool reads, bool array, error_code& ec) {
  reads_inner_ = reads;
  if (reads) object_.begin(object_handler::want::meta);
  return inner_begins(array, ec);
}

bool preempt_handler::inner_begins(bool array, error_code& ec) {
  ++inner_;
  if (!reads_inner_) return true;
  return array ? object_.on_array_begin(ec) : object_.on_object_begin(ec);
}

bool preempt_handler::inner_ends(std::size_t n, error_code& ec) {
  --inner_;
  if (!reads_inner_) return true;
  if (!object_.on_object_end(n, ec)) return false;
  if (inner_ != 0) return true;
  if (level_ == level::pods) return add_victim(object_.meta().uid, ec);
  if (object_.wrong_kind() != nullptr)
    return fail(fmt::format("the {} of Pod is not a string", object_.wrong_kind()), ec);
  pod_ = object_.meta();
  has_pod_ = true;
  return true;
}

// Keys

/// Keeps so much of a key that a name that is too long is seen to be.
void preempt_handler::add_to_key(std::string_view s) {
  if (key_.size() <= object_handler::max_text) key_ += s.substr(0, object_handler::max_text + 1);
}

bool preempt_handler::on_key_part(std::string_view s, std::size_t n, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_key_part(s, n, ec);
  add_to_key(s);
  return true;
}

bool preempt_handler::on_key(std::string_view s, std::size_t n, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_key(s, n, ec);
  add_to_key(s);
  const bool good = key_ended(ec);
  key_.clear();
  return good;
}

bool preempt_handler::key_ended(error_code& ec) {
  slot_ = slot::skip;
  switch (level_) {
    case level::args: return key_of_args(ec);
    case level::map: return key_of_node(ec);
    case level::victims: return key_of_victims(ec);
    case level::meta_pod:
      if (!same_key(key_, "uid")) return true;
      slot_ = slot::uid;
      return uid_.empty() || fail(fmt::format("key {} comes twice", key_), ec);
    case level::pods:
    case level::outside: break;
  }
  return true;
}

bool preempt_handler::key_of_args(error_code& ec) {
  if (same_key(key_, "pod")) {
    slot_ = slot::pod;
    return first_time(1, seen_args_, ec);
  }
  if (same_key(key_, "nodenametometavictims")) {
    slot_ = slot::map;
    whole_pods_ = false;
    return first_time(2, seen_args_, ec);
  }
  if (same_key(key_, "nodenametovictims")) {
    slot_ = slot::map;
    whole_pods_ = true;
    return first_time(4, seen_args_, ec);
  }
  return true;
}

/// A key of the map is a node's name.
bool preempt_handler::key_of_node(error_code& ec) {
  if (key_.empty()) return fail(fmt::format("{} has an entry without a node's name", map_name()), ec);
  if (key_.size() > object_handler::max_text)
    return fail(fmt::format("{} holds a name longer than {} bytes", map_name(), object_handler::max_text),
                ec);
  if (nodes_.size() >= limits_.nodes) {
    too_large_ = true;
    return fail(fmt::format("the request names more than {} nodes", limits_.nodes), ec);
  }
  nodes_.add(key_);
  if (seen_nodes_.again(nodes_, nodes_.size() - 1))
    return fail(fmt::format("the node {} comes twice", key_), ec);
  return true;
}

bool preempt_handler::key_of_victims(error_code& ec) {
  if (same_key(key_, "pods")) {
    slot_ = slot::pods;
    return first_time(1, seen_victims_, ec);
  }
  if (same_key(key_, "numpdbviolations")) {
    slot_ = slot::violations;
    return first_time(2, seen_victims_, ec);
  }
  return true;
}

bool preempt_handler::first_time(std::uint8_t bit, std::uint8_t& seen, error_code& ec) {
  if ((seen & bit) != 0) return fail(fmt::format("key {} comes twice", key_), ec);
  seen = static_cast<std::uint8_t>(seen | bit);
  return true;
}

// Nodes and their victims

void preempt_handler::begin_node() {
  append_json_string(text_, node());
  text_ += R"(:{"Pods":[)";
  any_victim_ = false;
  violations_ = 0;
  seen_victims_ = 0;
}

bool preempt_handler::end_node(error_code& ec) {
  text_ += fmt::format(R"(],"NumPDBViolations":{}}})", violations_);
  ends_.push_back(text_.size());
  return fits(ec);
}

bool preempt_handler::add_victim(std::string_view uid, error_code& ec) {
  if (uid.empty()) return fail(fmt::format("a victim at node {} has no UID", node()), ec);
  if (any_victim_) text_ += ',';
  any_victim_ = true;
  text_ += R"({"UID":)";
  append_json_string(text_, uid);
  text_ += '}';
  return fits(ec);
}

bool preempt_handler::fits(error_code& ec) {
  if (nodes_.bytes() + text_.size() <= limits_.text) return true;
  too_large_ = true;
  return fail(
      fmt::format("the nodes' names and the victims' UIDs take more than {} bytes together", limits_.text),
      ec);
}

// Plain values

bool preempt_handler::on_string_part(std::string_view s, std::size_t n, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_string_part(s, n, ec);
  return text_of(s, ec);
}

bool preempt_handler::on_string(std::string_view s, std::size_t n, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_string(s, n, ec);
  return text_of(s, ec);
}

bool preempt_handler::text_of(std::string_view s, error_code& ec) {
  if (next() != slot::uid) return is_skipped_or_wrong("a string", ec);
  if (uid_.size() + s.size() > object_handler::max_text)
    return fail(fmt::format("{} is longer than {} bytes", where(), object_handler::max_text), ec);
  uid_ += s;
  return true;
}

bool preempt_handler::on_int64(std::int64_t i, std::string_view s, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_int64(i, s, ec);
  if (next() != slot::violations) return is_skipped_or_wrong("a number", ec);
  violations_ = i;
  return true;
}

bool preempt_handler::on_uint64(std::uint64_t i, std::string_view s, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_uint64(i, s, ec);
  return is_skipped_or_wrong("a number beyond 64 bits", ec);
}

bool preempt_handler::on_double(double d, std::string_view s, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_double(d, s, ec);
  return is_skipped_or_wrong("a number with a fraction", ec);
}

bool preempt_handler::on_bool(bool b, error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_bool(b, ec);
  return is_skipped_or_wrong("a boolean", ec);
}

bool preempt_handler::on_null(error_code& ec) {
  if (inner_ != 0) return !reads_inner_ || object_.on_null(ec);
  switch (next()) {
    case slot::args:
    case slot::victim: return wrong_kind("null", ec);
    case slot::victims:  // Go's nil; answered as an empty list, because kube-scheduler reads no null here
      begin_node();
      return end_node(ec);
    case slot::pod:
    case slot::map:
    case slot::pods:
    case slot::uid:
    case slot::violations:
    case slot::skip: break;
  }
  return true;
}

// Refusals

bool preempt_handler::is_skipped_or_wrong(std::string_view kind, error_code& ec) {
  return next() == slot::skip || wrong_kind(kind, ec);
}

bool preempt_handler::wrong_kind(std::string_view kind, error_code& ec) {
  const slot what = next();
  const std::string_view wanted = what == slot::pods         ? "an array"
                                  : what == slot::uid        ? "a string"
                                  : what == slot::violations ? "a whole number"
                                                             : "an object";
  return fail(fmt::format("{} is {}, not {}{}{}", where(), kind, wanted, what == slot::args ? ": " : "",
                          what == slot::args ? preempt_shape : ""),
              ec);
}

bool preempt_handler::fail(std::string sentence, error_code& ec) {
  problem_ = std::move(sentence);
  ec = boost::json::make_error_code(boost::json::error::syntax);
  return false;
}

std::string preempt_handler::where() const {
  const slot what = next();
  if (what == slot::args) return "the body";
  if (what == slot::pod) return "Pod";
  if (what == slot::skip) return "the value of an unknown key";
  if (what == slot::map || nodes_.empty()) return std::string(map_name());
  if (what == slot::victims) return fmt::format("the entry of node {}", node());
  if (what == slot::pods) return fmt::format("Pods of node {}", node());
  if (what == slot::victim) return fmt::format("a victim at node {}", node());
  if (what == slot::uid) return fmt::format("the UID of a victim at node {}", node());
  return fmt::format("NumPDBViolations of node {}", node());
}

}  // namespace binnacle::extender
