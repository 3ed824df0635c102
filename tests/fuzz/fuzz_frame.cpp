#include "common/wire/codec/batch_codec.hpp"
#include "common/wire/codec/codec.hpp"
#include "tests/fuzz/target.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

namespace fuzz_frame {

using namespace binnacle::wire;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool same(const batch& a, const batch& b) {
  const auto equal = [](const auto& x, const auto& y, auto what) {
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (what(x[i]) != what(y[i])) return false;
    return true;
  };
  return a.full == b.full && a.sent_at_ns == b.sent_at_ns &&
         equal(a.values, b.values, [](const series_value& v) { return std::pair(v.series, v.mantissa); }) &&
         equal(a.absences, b.absences,
               [](const series_absence& v) { return std::pair(v.series, v.reason); }) &&
         equal(a.reads, b.reads, [](const group_read& r) { return std::pair(r.group, r.read_at_ns); });
}

/// Reads the only frame in `data`.
frame_view only_frame(frame_reader& reader, const bytes& data) {
  reader.feed(data);
  const auto f = reader.next();
  require(f.has_value() && f->has_value());
  return **f;
}

/// Checks that what was decoded can be written again and is then read the same.
class echo {
 public:
  void reset(const catalog& c) {
    encoder_.reset(c);
    decoder_.reset(c);
  }
  void check(batch b) {
    bytes out;
    require(encoder_.append(out, b).has_value());
    frame_reader reader;
    batch again;
    require(decoder_.decode(only_frame(reader, out), space_, again, left_out_).has_value() &&
            left_out_.items == 0);
    require(same(b, again));
  }
  void check(const message& m) {
    bytes out;
    const auto done = std::visit(
        [&](const auto& one) -> outcome<void> {
          if constexpr (std::is_same_v<std::decay_t<decltype(one)>, batch>)
            return {};
          else
            return append(out, one);
        },
        m);
    if (done.has_error()) {
      require(done.error().why == reason::oversized);  // texts that were shared may now take too many bytes
      return;
    }
    frame_reader reader;
    const auto again = decode(only_frame(reader, out), space_, left_out_);
    require(again.has_value() && left_out_.items == 0 && again->index() == m.index());
  }

 private:
  batch_encoder encoder_;
  batch_decoder decoder_;
  scratch space_;
  omissions left_out_;
};

/// Fills the places of a catalog that were left out with values that a writer accepts.
void fill_places(catalog& c) {
  if (c.groups.empty()) c.groups.push_back({"os", ""});
  for (series_info& s : c.series)
    if (s.family.empty()) s.family = "left_out";
}

}  // namespace

/// A stream of frames, given in pieces: tests framing, codec and batches. The first byte says how large the
/// pieces are.
FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t piece = std::size_t{1} + data[0];
  const auto stream = std::as_bytes(std::span(data + 1, size - 1));
  frame_reader reader;
  scratch space;
  omissions left_out;
  batch_decoder decoder;
  echo written_again;
  batch b;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.feed(stream.subspan(at, std::min(piece, stream.size() - at)));
    require(reader.capacity() <= std::max<std::size_t>(2 * reader.buffered() + piece, 4'096));
    for (;;) {
      const auto frame = reader.next();
      if (frame.has_error()) return 0;
      if (!frame->has_value()) break;
      if ((*frame)->kind == frame_kind::batch) {
        if (decoder.decode(**frame, space, b, left_out).has_error()) return 0;
        written_again.check(b);
        continue;
      }
      auto m = decode(**frame, space, left_out);
      if (m.has_error()) continue;
      if (auto* c = std::get_if<catalog>(&*m)) fill_places(*c);
      written_again.check(*m);
      if (const auto* c = std::get_if<catalog>(&*m)) {
        require(check(*c).has_value());
        decoder.reset(*c);
        written_again.reset(*c);
      }
    }
  }
  return 0;
}

}  // namespace fuzz_frame
