#pragma once

#include "aggregator/extender/name_list.hpp"
#include "aggregator/extender/object_handler.hpp"
#include "aggregator/extender/repeats.hpp"
#include "common/error.hpp"

#include <boost/json/basic_parser.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::extender {

/// Limits on the memory that one request can take.
struct args_limits {
  std::size_t bytes = 256u << 20;  ///< of the whole body
  std::size_t nodes = 100'000;
  std::size_t depth = 64;  ///< of nesting
  /// The Pod's text is kept up to this size; 0: not at all. (The API server accepts objects of up to 1.5
  /// MiB.)
  std::size_t pod_text = 0;
};

/// Told about a request while it is read.
class args_sink {
 public:
  virtual ~args_sink() = default;
  /// args_parser::pod() is complete now. Go sends the Pod first, but any order is allowed.
  virtual void on_pod() = 0;
  /// The next raw bytes of Nodes.items[args_parser::items().size()], exactly as they came, perhaps with
  /// blanks around the item.
  virtual void on_item_bytes(std::string_view bytes) = 0;
  /// The item has ended; its name is the last in items().
  virtual void on_item() = 0;
  /// The item has ended. Its name was in items() already, so it is not added again.
  virtual void on_repeated_item() = 0;
};

/// Reads ExtenderArgs {Pod, Nodes | NodeNames} from a body that comes in pieces of any size, without keeping
/// it.
/// Shape:  keys are matched without case and in any order, unknown ones are skipped, text after the object is
///         ignored (as Go does). A key that comes twice is refused; a name that comes twice counts once.
/// Way:    the three outer levels are walked here; each value below is a document of its own for Boost.JSON's
///         SAX parser, which stops right behind it: that is how the bytes of an item are known although SAX
///         events carry no offsets.
/// Source: k8s.io/kube-scheduler/extender/v1, types.go (no JSON tags: Go's field names); encoding/json.
class args_parser {
 public:
  /// `announced`: the body's length, if it was said, as far as it is worth reserving for.
  args_parser(args_sink& sink, args_limits limits, std::size_t announced = 0);

  /// Reads the next piece of the body. False: the request is wrong (see problem()), and further pieces are
  /// ignored.
  bool consume(std::string_view piece);
  /// The body has ended. Errors: invalid_input with one sentence, if the body is empty, cut off, has a wrong
  /// form, has no Pod or no list of nodes.
  result<void> finish();

  bool failed() const noexcept { return !problem_.empty(); }
  bool too_large() const noexcept { return too_large_; }  ///< a limit was exceeded: 413 rather than 400
  const std::string& problem() const noexcept { return problem_; }

  bool has_pod() const noexcept { return has_pod_; }
  const object_meta& pod() const noexcept { return pod_; }
  /// The Pod's JSON; empty if it is not kept (args_limits::pod_text).
  std::string_view pod_text() const noexcept { return pod_text_; }
  bool has_names() const noexcept { return has_names_; }  ///< NodeNames was a list, perhaps empty
  /// Complete at the end of the request; until then a name may be in it twice.
  const name_list& names() const noexcept { return names_; }
  bool has_nodes() const noexcept { return has_nodes_; }  ///< Nodes was an object
  const name_list& items() const noexcept { return items_; }

 private:
  /// What the next value is.
  enum class slot : std::uint8_t { args, pod, nodes, names, name, items, item, key, skip };
  enum class expect : std::uint8_t { value, value_or_end, comma_or_end, key_or_end, key, colon, nothing };
  /// Which of our own brackets we are in.
  enum class level : std::uint8_t { outside, args, nodes, names, items };

  const char* step(const char* p, const char* end);
  const char* begin_value(const char* p, const char* end);
  const char* plain_names(const char* p, const char* end);
  const char* feed(const char* p, const char* end);
  void begin_document(object_handler::want want);
  void keep_pod_text(std::string_view bytes);
  void value_ended();
  const char* close_level(const char* p);
  void key_ended(std::string_view key);
  void enter(level inner, expect first);
  void names_ended();
  bool good_name(std::size_t length, const name_list& list);
  std::string where() const;
  const char* fail(std::string sentence);
  const char* syntax(const char* p, std::string_view wanted);
  const char* wrong_kind(const char* p, std::string_view wanted);

  args_sink& sink_;
  args_limits limits_;
  std::size_t announced_;
  boost::json::basic_parser<object_handler> document_;
  std::size_t before_ = 0;       // bytes of earlier pieces
  const char* piece_ = nullptr;  // the piece being read
  bool in_document_ = false;     // a value is with document_
  slot slot_ = slot::args;
  expect expect_ = expect::value;
  level level_ = level::outside;
  bool is_null_ = false;  // the value of Pod is null
  bool has_pod_ = false, has_names_ = false, has_nodes_ = false;
  std::uint8_t seen_ = 0;  // bit per known key of the args, one for items
  bool too_large_ = false;
  object_meta pod_;
  std::string pod_text_;
  bool pod_text_fits_ = true;
  name_list names_, items_;
  repeats item_names_;
  std::size_t repeated_items_ = 0;
  std::string problem_;
};

}  // namespace binnacle::extender
