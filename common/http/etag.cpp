#include "common/http/etag.hpp"

#include <algorithm>

namespace binnacle::http {
namespace {

std::string_view opaque(std::string_view tag) noexcept { return tag.substr(tag.starts_with("W/") ? 2 : 0); }

bool names(std::string_view list, std::string_view etag) noexcept {
  for (;;) {
    list.remove_prefix(std::min(list.find_first_not_of(" \t,"), list.size()));
    if (list.empty()) return false;
    if (list.starts_with('*')) return true;
    list = opaque(list);
    const auto end = list.starts_with('"') ? list.find('"', 1) : list.npos;
    if (end == list.npos) return false;  // not a list of tags
    if (list.substr(0, end + 1) == opaque(etag)) return true;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

bool has_already(const request& r, std::string_view etag) noexcept {
  return std::any_of(r.headers.begin(), r.headers.end(),
                     [etag](const auto& h) { return h.first == "if-none-match" && names(h.second, etag); });
}

}  // namespace binnacle::http
