#pragma once

#include <boost/json/basic_parser.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::extender {

/// What is read from the metadata of the Pod and of each node: the strings that a decision needs.
struct object_meta {
  std::string name, name_space, uid;
  std::string policy;  ///< label telemetry-policy
  bool has_policy = false;

  void clear() {
    name.clear(), name_space.clear(), uid.clear(), policy.clear();
    has_policy = false;
  }
};

/// Whether two keys are equal apart from ASCII case. Go's decoder matches keys in this way.
bool same_key(std::string_view key, std::string_view lower_case) noexcept;

/// Boost.JSON's SAX callbacks for one value of the request. The value is an object whose metadata is kept, a
/// single string that is kept, or anything else, which is skipped. For unwanted text a callback makes only
/// one comparison, because 63 MB of nodes may pass through here.
class object_handler {
 public:
  enum class want : std::uint8_t { nothing, text, meta };

  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  /// Names, namespaces, UIDs and label values are shorter (Kubernetes: DNS subdomain, at most 253).
  static constexpr std::size_t max_text = 253;

  void begin(want w) {
    want_ = w;
    depth_ = 0;
    key_.clear();
    text_.clear();
    too_long_ = false;
    wrong_kind_ = nullptr;
    meta_.clear();
    inside_ = section::other;
    field_ = w == want::text ? &text_ : nullptr;
  }
  const object_meta& meta() const noexcept { return meta_; }
  const std::string& text() const noexcept { return text_; }
  bool too_long() const noexcept { return too_long_; }
  /// The name of a field that decides which policy applies but is neither a string nor null; null if there is
  /// no such field.
  const char* wrong_kind() const noexcept { return wrong_kind_; }

  using error_code = boost::json::error_code;
  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    if (++depth_ <= deepest_key) enter();
    return other();
  }
  bool on_object_end(std::size_t, error_code&) {
    if (--depth_ < deepest_key) leave();
    return true;
  }
  bool on_array_begin(error_code&) {
    next_ = section::other;
    return on_object_begin(ignored_);
  }
  bool on_array_end(std::size_t n, error_code& ec) { return on_object_end(n, ec); }
  bool on_key_part(std::string_view s, std::size_t, error_code&) {
    if (depth_ <= deepest_key && key_.size() <= max_text) key_ += s.substr(0, max_text);
    return true;
  }
  bool on_key(std::string_view s, std::size_t, error_code&) {
    if (depth_ <= deepest_key && want_ == want::meta) choose(s);
    return true;
  }
  bool on_string_part(std::string_view s, std::size_t, error_code& ec) {
    return field_ == nullptr || keep(s, ec);
  }
  bool on_string(std::string_view s, std::size_t, error_code& ec) {
    return field_ == nullptr || keep_last(s, ec);
  }
  bool on_number_part(std::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t, std::string_view, error_code&) { return other(); }
  bool on_uint64(std::uint64_t, std::string_view, error_code&) { return other(); }
  bool on_double(double, std::string_view, error_code&) { return other(); }
  bool on_bool(bool, error_code&) { return other(); }
  bool on_null(error_code&) {
    field_ = nullptr;
    return true;
  }
  bool on_comment_part(std::string_view, error_code&) { return true; }
  bool on_comment(std::string_view, error_code&) { return true; }

 private:
  /// {metadata:{labels:{key}}}: keys below depth 3 are skipped.
  static constexpr int deepest_key = 3;
  enum class section : std::uint8_t { other, metadata, labels };

  void enter() noexcept;
  void leave() noexcept;
  bool other() noexcept {
    if (field_ == &meta_.name_space) wrong_kind_ = "metadata.namespace";
    if (field_ == &meta_.policy) wrong_kind_ = "metadata.labels.telemetry-policy";
    field_ = nullptr;
    return true;
  }
  void choose(std::string_view key);
  bool keep(std::string_view s, error_code& ec);
  bool keep_last(std::string_view s, error_code& ec);

  object_meta meta_;
  std::string text_;
  std::string key_;               // of a key that came in pieces, so far
  std::string* field_ = nullptr;  // where the next string goes
  int depth_ = 0;
  want want_ = want::nothing;
  section inside_ = section::other;  // where we are, for depths 2 and 3
  section next_ = section::other;    // what the value of the last key would open
  bool too_long_ = false;
  const char* wrong_kind_ = nullptr;
  error_code ignored_;
};

}  // namespace binnacle::extender
