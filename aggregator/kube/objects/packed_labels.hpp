#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// Labels packed into one piece of memory, because a cluster has many nodes and pods, and
/// each of them some ten to thirty labels.
class packed_labels {
 public:
  packed_labels() = default;
  /// The members of `from` that are strings; none for null.
  explicit packed_labels(const boost::json::object* from);

  std::optional<std::string_view> find(std::string_view key) const noexcept;

  /// Finds several labels. If their keys are asked for in ascending order, all of them cost one pass. Valid
  /// as long as the labels.
  class finder {
   public:
    explicit finder(const packed_labels& in) noexcept : in_(&in) {}
    std::optional<std::string_view> operator()(std::string_view key) noexcept;

   private:
    const packed_labels* in_;   // small: it goes into a std::function without memory of its own
    std::uint32_t next_ = 0;    // where the next label begins
    std::uint32_t before_ = 0;  // where the one before it begins, if there is one
  };

  /// `f(key, value)` for each label, in ascending order of the keys.
  template <class F>
  void each(F&& f) const {
    for (std::string_view rest = text_; !rest.empty();) {
      const std::string_view key = next(rest);
      f(key, next(rest));
    }
  }
  /// The memory that they take.
  std::size_t bytes() const noexcept { return text_.size(); }
  /// Forgets them and gives the memory back, which an assignment would keep.
  void clear() noexcept { std::string().swap(text_); }
  friend bool operator==(const packed_labels&, const packed_labels&) = default;

 private:
  /// Takes the next word from the front.
  static std::string_view next(std::string_view& rest) noexcept {
    const std::string_view word = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(word.size() + 1);
    return word;
  }
  std::string text_;  // key NUL value NUL …, in ascending order of the keys
};

}  // namespace binnacle::kube
