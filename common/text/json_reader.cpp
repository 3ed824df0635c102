// Boost.JSON keeps the members of an object with more than 18 of them in buckets, by FNV-1a modulo their
// number. The hash begins with the address of the object's memory, in place of a random salt. With 2^n
// members only the lowest n bits of that address count, and these are easy to guess: a large allocation
// begins 16 bytes behind the start of a page. So 16,384 chosen annotations, which the API server takes, once
// cost 0.4 s of the loop that kube-scheduler waits for (tests/bench/bench_objects.cpp).

#include "common/text/json_reader.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace binnacle {
namespace {

namespace json = boost::json;
using json::error_code;

/// Builds the value from what the parser finds.
class builder {
 public:
  static constexpr std::size_t max_array_size = -1, max_object_size = -1, max_string_size = -1,
                               max_key_size = -1;

  builder(json_reader::item_taker each, json::storage_ptr memory, std::size_t most_in_all)
      : each_(std::move(each)), memory_(std::move(memory)), most_in_all_(most_in_all) {}

  void begin() {
    whole_.reset(memory_);
    open_.clear();
    cuts_ = members_ = elements_ = skipped_ = 0;
    in_items_ = false;
  }
  json::value release() { return whole_.release(); }
  std::size_t cuts() const { return cuts_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return enter(false); }
  bool on_object_end(std::size_t, error_code&) {
    if (!leave()) return true;
    const std::size_t kept = open_.back().kept;
    open_.pop_back();
    return put([kept](json::value_stack& to) { to.push_object(kept); });
  }
  bool on_array_begin(error_code&) { return enter(true); }
  bool on_array_end(std::size_t, error_code&) {
    if (!leave()) return true;
    const container was = open_.back();
    open_.pop_back();
    if (was.is_items) in_items_ = false;
    return put([n = was.is_items ? 0 : was.kept](json::value_stack& to) { to.push_array(n); });
  }
  bool on_key_part(json::string_view s, std::size_t, error_code&) {
    key_.append(s.data(), s.size());
    return true;
  }
  bool on_key(json::string_view s, std::size_t, error_code&) {
    if (skipped_ == 0) {
      key_.append(s.data(), s.size());
      container& in = open_.back();
      const bool is_full = in.kept == json_reader::most_members || members_ == most_in_all_;
      if (is_full) ++cuts_;
      if (is_full || (in.is_metadata && key_ == "managedFields")) {
        skipped_ = 1;
      } else {
        ++in.kept;
        ++members_;
        in.at_metadata = key_ == "metadata";
        in.at_items = each_ && open_.size() == 1 && key_ == "items";
        stack().push_key(key_);
      }
    }
    key_.clear();
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, error_code&) {
    if (skipped_ == 0 && !is_full_list()) stack().push_chars(s);
    return true;
  }
  bool on_string(json::string_view s, std::size_t, error_code&) {
    return !is_wanted() || put([s](json::value_stack& to) { to.push_string(s); });
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t i, json::string_view, error_code&) {
    return !is_wanted() || put([i](json::value_stack& to) { to.push_int64(i); });
  }
  bool on_uint64(std::uint64_t u, json::string_view, error_code&) {
    return !is_wanted() || put([u](json::value_stack& to) { to.push_uint64(u); });
  }
  bool on_double(double d, json::string_view, error_code&) {
    return !is_wanted() || put([d](json::value_stack& to) { to.push_double(d); });
  }
  bool on_bool(bool b, error_code&) {
    return !is_wanted() || put([b](json::value_stack& to) { to.push_bool(b); });
  }
  bool on_null(error_code&) {
    return !is_wanted() || put([](json::value_stack& to) { to.push_null(); });
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

 private:
  struct container {
    std::size_t kept = 0;  // members or elements
    bool is_list = false;
    bool is_metadata = false;  // the value of a member of that name
    bool at_metadata = false;  // its next value is
    bool is_items = false;     // the items that are given away
    bool at_items = false;     // its next value is
  };

  json::value_stack& stack() { return in_items_ ? item_ : whole_; }
  /// Puts a complete value on the stack. If it is an item, it is given away at once.
  template <typename Push>
  bool put(Push push) {
    push(stack());
    if (!in_items_ || !open_.back().is_items) return true;
    each_(item_.release(), std::exchange(cuts_, 0));
    item_.reset(memory_);
    return true;
  }
  bool enter(bool is_array) {
    if (skipped_ == 0 && !takes_element()) skipped_ = 1;
    if (skipped_ > 0) {
      ++skipped_;
      return true;
    }
    container now;
    now.is_list = is_array;
    if (!open_.empty()) {
      now.is_metadata = open_.back().at_metadata;
      now.is_items = is_array && open_.back().at_items;
    }
    if (now.is_items) {
      in_items_ = true;
      item_.reset(memory_);
    }
    open_.push_back(now);
    return true;
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
    return skipped_ == 0 && takes_element();
  }
  /// Whether the next value would be an element of a list, and one too many.
  bool is_full_list() const { return elements_ == most_in_all_ && !open_.empty() && open_.back().is_list; }
  /// Counts the value that has come, if it is an element of a list. False: it is one too many.
  bool takes_element() {
    if (open_.empty() || !open_.back().is_list) return true;
    if (is_full_list()) {
      ++cuts_;
      return false;
    }
    ++open_.back().kept;
    ++elements_;
    return true;
  }

  const json_reader::item_taker each_;
  const json::storage_ptr memory_;
  const std::size_t most_in_all_;
  json::value_stack whole_, item_;
  bool in_items_ = false;  // values go to item_
  std::string key_;
  std::vector<container> open_;
  std::size_t members_ = 0, elements_ = 0;  // that were kept, in all
  std::size_t cuts_ = 0;                    // of the value, or of the item, that is being read
  std::size_t skipped_ = 0;  // 1: the next value is left out; more: how deep we are in one, and 1
};

json::parse_options deep() {
  json::parse_options out;
  out.max_depth = 128;  // managedFields of a pod template
  return out;
}

}  // namespace

struct json_reader::impl {
  impl(item_taker each, json::storage_ptr memory, std::size_t most_in_all)
      : parser(deep(), std::move(each), std::move(memory), most_in_all) {
    parser.handler().begin();
  }
  json::basic_parser<builder> parser;
  std::size_t left_out = 0;
};

json_reader::json_reader(item_taker each, json::storage_ptr memory, std::size_t most_in_all)
    : impl_(std::make_unique<impl>(std::move(each), std::move(memory), most_in_all)) {}
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
  impl_->left_out = impl_->parser.handler().cuts();
  impl_->parser.reset();
  impl_->parser.handler().begin();
  return out;
}

std::size_t json_reader::members_left_out() const noexcept { return impl_->left_out; }

result<json::value> read_json(std::string_view text, json::storage_ptr memory) {
  constexpr std::size_t most_in_all = 16'384;
  json_reader reader(nullptr, std::move(memory), most_in_all);
  const auto used = reader.read(text, false);
  if (used.has_error()) return used.error();
  if (text.find_first_not_of(" \t\r\n", *used) != text.npos)
    return error{errc::protocol, "more follows behind it"};
  return reader.take();
}

}  // namespace binnacle
