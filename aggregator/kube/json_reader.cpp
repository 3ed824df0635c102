// Boost.JSON keeps the members of an object with more than 18 of them in buckets, by FNV-1a modulo their
// number. The hash begins with the address of the object's memory, in place of a random salt. With 2^n
// members only the lowest n bits of that address count, and these are easy to guess: a large allocation
// begins 16 bytes behind the start of a page. So 16,384 chosen annotations, which the API server takes, once
// cost 0.4 s of the loop that kube-scheduler waits for (tests/bench/bench_objects.cpp).

#include "aggregator/kube/json_reader.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::kube {
namespace {

namespace json = boost::json;
using json::error_code;

/// Builds the value from what the parser finds.
class builder {
 public:
  static constexpr std::size_t max_array_size = -1, max_object_size = -1, max_string_size = -1,
                               max_key_size = -1;

  void begin() { stack_.reset(); }
  json::value release() { return stack_.release(); }
  std::vector<json_reader::cut> take_cuts() { return std::exchange(cuts_, {}); }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return enter(false); }
  bool on_object_end(std::size_t, error_code&) {
    if (!leave()) return true;
    stack_.push_object(open_.back().members);
    open_.pop_back();
    return true;
  }
  bool on_array_begin(error_code&) { return enter(true); }
  bool on_array_end(std::size_t n, error_code&) {
    if (!leave()) return true;
    stack_.push_array(n);
    open_.pop_back();
    return true;
  }
  bool on_key_part(json::string_view s, std::size_t, error_code&) {
    key_.append(s.data(), s.size());
    return true;
  }
  bool on_key(json::string_view s, std::size_t, error_code&) {
    if (skipped_ == 0) {
      key_.append(s.data(), s.size());
      container& in = open_.back();
      const bool is_full = in.members == json_reader::most_members;
      if (is_full) cut();
      if (is_full || (in.is_metadata && key_ == "managedFields")) {
        skipped_ = 1;
      } else {
        ++in.members;
        in.at_metadata = key_ == "metadata";
        stack_.push_key(key_);
      }
    }
    key_.clear();
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, error_code&) {
    if (skipped_ == 0) stack_.push_chars(s);
    return true;
  }
  bool on_string(json::string_view s, std::size_t, error_code&) {
    if (is_wanted()) stack_.push_string(s);
    return true;
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t i, json::string_view, error_code&) {
    if (is_wanted()) stack_.push_int64(i);
    return true;
  }
  bool on_uint64(std::uint64_t u, json::string_view, error_code&) {
    if (is_wanted()) stack_.push_uint64(u);
    return true;
  }
  bool on_double(double d, json::string_view, error_code&) {
    if (is_wanted()) stack_.push_double(d);
    return true;
  }
  bool on_bool(bool b, error_code&) {
    if (is_wanted()) stack_.push_bool(b);
    return true;
  }
  bool on_null(error_code&) {
    if (is_wanted()) stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

 private:
  struct container {
    std::size_t members = 0;   // that were kept
    std::size_t elements = 0;  // objects and arrays that have begun in this array
    bool is_array = false;
    bool is_metadata = false;  // the value of a member of that name
    bool at_metadata = false;  // its next value is
  };

  bool enter(bool is_array) {
    if (skipped_ > 0) {
      ++skipped_;
      return true;
    }
    if (!open_.empty()) ++open_.back().elements;
    open_.push_back({.is_array = is_array, .is_metadata = !open_.empty() && open_.back().at_metadata});
    return true;
  }
  /// A member is left out because its object has too many.
  void cut() {
    std::optional<std::size_t> item;
    if (open_.size() > 1 && open_[1].is_array) item = open_[1].elements - 1;
    if (cuts_.empty() || cuts_.back().item != item) cuts_.push_back({item, 0});
    ++cuts_.back().members;
  }
  /// Whether what ends is kept.
  bool leave() {
    if (skipped_ == 0) return true;
    if (--skipped_ == 1) skipped_ = 0;
    return false;
  }
  /// Whether the value that has come is kept.
  bool is_wanted() {
    if (skipped_ == 1) {
      skipped_ = 0;
      return false;
    }
    return skipped_ == 0;
  }

  json::value_stack stack_;
  std::string key_;
  std::vector<container> open_;
  std::vector<json_reader::cut> cuts_;
  std::size_t skipped_ = 0;  // 1: the next value is left out; more: how deep we are in one, and 1
};

json::parse_options deep() {
  json::parse_options out;
  out.max_depth = 128;  // managedFields of a pod template
  return out;
}

}  // namespace

struct json_reader::impl {
  impl() { parser.handler().begin(); }
  json::basic_parser<builder> parser{deep()};
};

json_reader::json_reader() : impl_(std::make_unique<impl>()) {}
json_reader::~json_reader() = default;

result<std::size_t> json_reader::read(std::string_view bytes, bool more) {
  error_code ec;
  const std::size_t used = impl_->parser.write_some(more, bytes.data(), bytes.size(), ec);
  if (ec) return error{errc::protocol, ec.message()};
  return used;
}

bool json_reader::is_complete() const { return impl_->parser.done(); }

json::value json_reader::take() {
  json::value out = impl_->parser.handler().release();
  impl_->parser.reset();
  impl_->parser.handler().begin();
  return out;
}

std::vector<json_reader::cut> json_reader::take_cuts() { return impl_->parser.handler().take_cuts(); }

}  // namespace binnacle::kube
