#pragma once

#include "common/text/json_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::extender {

/// Node names of one request in one buffer: no allocation per name. Most are kept as they came, with quotes
/// and commas, so that several names in a row can be copied into the answer at once. Names are at most 253
/// bytes and lists at most 100,000 names, so 32-bit offsets are enough.
class name_list {
 public:
  /// Reserves memory for that many bytes of names: growing with each piece would copy them twice.
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

  /// Adds a name that was unescaped from its JSON.
  void add(std::string_view name) {
    refs_.push_back(
        {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint16_t>(name.size()), false});
    text_ += name;
  }
  /// Adds a name that needs no unescaping. It is `offset` bytes into the text that the next call of
  /// add_text() brings.
  void refer(std::size_t offset, std::size_t length) {
    refs_.push_back(
        {static_cast<std::uint32_t>(text_.size() + offset), static_cast<std::uint16_t>(length), true});
  }
  void add_text(std::string_view text) { text_ += text; }
  /// Removes the name that was added last.
  void remove_last() {
    text_.resize(refs_.back().offset);
    refs_.pop_back();
  }
  /// Removes the names for whose place `gone` is true. It is asked about all of them, in order, before any is
  /// removed. Their text stays.
  template <class Gone>
  void remove_if(Gone gone) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      if (gone(i)) places.push_back(i);
    }
    if (places.empty()) return;
    std::size_t kept = places.front(), next = 0;
    for (std::size_t i = kept; i < refs_.size(); ++i) {
      if (next < places.size() && places[next] == i) {
        ++next;
      } else {
        refs_[kept++] = refs_[i];
      }
    }
    refs_.resize(kept);
  }

  std::size_t size() const noexcept { return refs_.size(); }
  bool empty() const noexcept { return refs_.empty(); }
  std::size_t bytes() const noexcept { return text_.size(); }
  /// Views are valid until the next change.
  std::string_view operator[](std::size_t i) const noexcept {
    return {text_.data() + refs_[i].offset, refs_[i].length};
  }

  /// Whether name i + 1 follows name `i` with just `","` between them.
  bool joined(std::size_t i) const noexcept {
    return i + 1 < refs_.size() && refs_[i].quoted && refs_[i + 1].quoted &&
           refs_[i].offset + refs_[i].length + 3 == refs_[i + 1].offset;
  }
  /// Appends names first..last, all joined, as JSON strings with commas between them.
  void append_to(std::string& out, std::size_t first, std::size_t last) const {
    if (refs_[first].quoted) {
      const std::size_t from = refs_[first].offset - 1;
      out += std::string_view(text_).substr(from, refs_[last].offset + refs_[last].length + 1 - from);
    } else {
      append_json_string(out, (*this)[first]);
    }
  }

 private:
  struct ref {
    std::uint32_t offset;
    std::uint16_t length;
    bool quoted;  // it has its quotes around it
  };
  std::string text_;
  std::vector<ref> refs_;
};

}  // namespace binnacle::extender
