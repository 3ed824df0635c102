#include "aggregator/extender/kept_items.hpp"

namespace binnacle::extender {

void kept_items::append(std::string_view bytes) {
  if (!inside_) {
    inside_ = true;
    // An item never crosses two pieces, so that one resize can take it back.
    if (pieces_.back().size() >= piece_size) pieces_.emplace_back();
    if (pieces_.back().capacity() < piece_size) pieces_.back().reserve(piece_size + piece_size / 16);
    begun_ = pieces_.back().size();
    if (count_ != 0) pieces_.back() += ',';
  }
  pieces_.back() += bytes;
}

void kept_items::keep() {
  bytes_ += pieces_.back().size() - begun_;
  ++count_;
  inside_ = false;
}

void kept_items::drop() {
  pieces_.back().resize(begun_);
  inside_ = false;
}

std::vector<std::string> kept_items::take(std::string_view tail) {
  pieces_.back() += tail;
  return std::move(pieces_);
}

}  // namespace binnacle::extender
