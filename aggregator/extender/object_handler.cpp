#include "aggregator/extender/object_handler.hpp"

#include "common/text/text.hpp"

namespace binnacle::extender {

bool same_key(std::string_view key, std::string_view lower_case) noexcept {
  if (key.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (lowered(key[i]) != lower_case[i]) return false;
  }
  return true;
}

void object_handler::enter() noexcept {
  if (depth_ == 1) inside_ = section::other;
  if (depth_ == 2) inside_ = next_ == section::metadata ? section::metadata : section::other;
  if (depth_ == 3 && inside_ == section::metadata && next_ == section::labels) inside_ = section::labels;
  next_ = section::other;
}

void object_handler::leave() noexcept {
  if (depth_ == 2 && inside_ == section::labels) inside_ = section::metadata;
  if (depth_ == 1) inside_ = section::other;
}

void object_handler::choose(std::string_view last) {
  // A key that came in pieces was gathered in key_.
  if (!key_.empty()) key_ += last.substr(0, max_text);
  const std::string_view key = key_.empty() ? last : std::string_view(key_);
  field_ = nullptr;
  next_ = section::other;
  if (depth_ == 1) {
    if (same_key(key, "metadata")) next_ = section::metadata;
  } else if (depth_ == 2 && inside_ == section::metadata) {
    if (same_key(key, "name"))
      field_ = &meta_.name;
    else if (same_key(key, "namespace"))
      field_ = &meta_.name_space;
    else if (same_key(key, "uid"))
      field_ = &meta_.uid;
    else if (same_key(key, "labels"))
      next_ = section::labels;
  } else if (depth_ == 3 && inside_ == section::labels) {
    // A label's key is data and not a field name, so upper and lower case differ.
    if (key == "telemetry-policy") field_ = &meta_.policy;
  }
  if (field_ != nullptr) field_->clear();
  key_.clear();
}

bool object_handler::keep(std::string_view s, error_code& ec) {
  if (field_->size() + s.size() > max_text) {
    too_long_ = true;
    ec = boost::json::make_error_code(boost::json::error::string_too_large);
    return false;
  }
  *field_ += s;
  return true;
}

bool object_handler::keep_last(std::string_view s, error_code& ec) {
  if (!keep(s, ec)) return false;
  if (field_ == &meta_.policy) meta_.has_policy = true;
  if (want_ == want::meta) field_ = nullptr;
  return true;
}

}  // namespace binnacle::extender
