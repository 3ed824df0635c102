#pragma once

#include "common/error.hpp"
#include "common/text/json_reader.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

/// Reads Kubernetes' JSON without trusting it (single members: common/text/json_members.hpp).
namespace binnacle::kube {

/// The condition of that type in an object's status, or null.
const boost::json::object* condition_in(const boost::json::object& status, std::string_view type);

/// `text` as one JSON object. Errors: protocol.
result<boost::json::object> parse_object(std::string_view text);

/// Reads a list that comes in pieces, and gives its items away one by one: a long list holds up nobody, and
/// is never in memory as a whole.
class list_reader {
 public:
  explicit list_reader(json_reader::item_taker each) : reader_(std::move(each)) {}

  void feed(std::string_view bytes);
  /// What is left of the list. Errors: protocol.
  result<boost::json::object> finish();

 private:
  json_reader reader_;
  std::optional<error> trouble_;
};

/// Reads the JSON objects in a stream of bytes, with white space between them, as in a watch's body.
class object_stream {
 public:
  /// Of one object. etcd takes 1.5 MiB, in which every byte may be a "<", which the API server writes in six.
  static constexpr std::size_t most_bytes = 12u << 20;

  /// Calls `each` for every object that is complete now, until `each` returns false. Errors: protocol (not
  /// JSON, not an object), overloaded (too large). After an error the stream cannot be used any more.
  result<void> feed(std::string_view bytes, const std::function<bool(const boost::json::object&)>& each);
  /// How many members of the object that `each` was called for last were left out.
  std::size_t members_left_out() const noexcept { return reader_.members_left_out(); }

 private:
  json_reader reader_;
  std::size_t size_ = 0;  // of the object that is coming
};

}  // namespace binnacle::kube
