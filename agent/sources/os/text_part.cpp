#include "agent/kernel/absence_of.hpp"
#include "agent/sources/os/part.hpp"

namespace binnacle::agent {

board::series_ref text_part::announce(board& out, board::group_ref group, std::string family,
                                      metrics::label_set labels) {
  series_.push_back(out.add_series(group, std::move(family), std::move(labels)));
  return series_.back();
}

result<void> text_part::discover(board& out, board::group_ref group) {
  if (!series_.empty()) return {};
  if (const auto text = file_.read(buffer_); !text) return text.error();
  announce_all(out, group);
  return {};
}

result<void> text_part::read(board& out) {
  const auto text = file_.read(buffer_);
  if (text && take(*text, out)) return {};
  const auto reason = text ? absence::malformed : absence_of(file_.last_errno());
  for (const auto s : series_) out.set_absent(s, reason);
  lost(reason, out);
  if (text) return error{errc::invalid_input, file_.path() + ": not the text that the kernel writes there"};
  return text.error();
}

}  // namespace binnacle::agent
