#pragma once

#include "aggregator/kube/json_reader.hpp"
#include "common/error.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

/// Reads Kubernetes' JSON without trusting it (single members: common/text/json_members.hpp).
namespace binnacle::kube {

/// The condition of that type in an object's status, or null.
const boost::json::object* condition_in(const boost::json::object& status, std::string_view type);

/// `text` as one JSON object. Errors: protocol.
result<boost::json::object> parse_object(std::string_view text);
/// The same; `cuts` are the members beyond the most, which were left out.
result<boost::json::object> parse_object(std::string_view text, std::vector<json_reader::cut>& cuts);

/// Reads one JSON object that comes in pieces, so that a large one holds up nobody and is not in memory
/// twice.
class object_reader {
 public:
  void feed(std::string_view bytes);
  /// The object; `cuts` are the members beyond the most, which were left out. Errors: protocol.
  result<boost::json::object> finish(std::vector<json_reader::cut>& cuts);

 private:
  json_reader reader_;
  std::optional<error> trouble_;
};

/// Reads the JSON objects in a stream of bytes, with white space between them, as in a watch's body.
class object_stream {
 public:
  static constexpr std::size_t most_bytes = 8u << 20;  ///< of one object; etcd takes 1.5 MiB

  /// Calls `each` for every object that is complete now, until `each` returns false. Errors: protocol (not
  /// JSON, not an object), overloaded (too large). After an error the stream cannot be used any more.
  result<void> feed(std::string_view bytes, const std::function<bool(const boost::json::object&)>& each);
  /// How many members of the object that `each` was called for last were left out.
  std::size_t members_left_out() const noexcept { return left_out_; }

 private:
  json_reader reader_;
  std::size_t size_ = 0;  // of the object that is coming
  std::size_t left_out_ = 0;
};

}  // namespace binnacle::kube
