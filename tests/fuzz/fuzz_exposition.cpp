#include "common/exposition/exposition.hpp"
#include "common/text/utf8.hpp"
#include "tests/fuzz/target.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz_exposition {

/// Whatever the parser accepts is within its bounds. The writer writes it, and it is read back the same.
namespace {

namespace exposition = binnacle::exposition;

struct copy {
  std::string name;
  binnacle::metrics::label_set labels;
  double value;
  bool same(const copy& o) const {
    return name == o.name && labels == o.labels &&
           (value == o.value || (std::isnan(value) && std::isnan(o.value)));
  }
};

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  exposition::limits bounds;
  bounds.series = 50;
  bounds.labels = 4;
  bounds.text = 40;

  std::vector<copy> read;
  const auto outcome = exposition::parse(text, bounds, [&](const exposition::sample& s) {
    demand(!s.name.empty() && s.name.size() <= bounds.text, "name out of bounds");
    demand(s.labels.size() <= bounds.labels, "too many labels");
    demand(s.help.size() <= bounds.text, "help out of bounds");
    for (const auto& [name, value] : s.labels) {
      demand(!name.empty() && name.size() <= bounds.text && value.size() <= bounds.text,
             "label out of bounds");
      demand(binnacle::find_invalid_utf8(value) == std::string_view::npos, "label value is not UTF-8");
    }
    demand(binnacle::find_invalid_utf8(s.help) == std::string_view::npos, "help is not UTF-8");
    demand(s.type != binnacle::metrics::kind::histogram, "a series is no histogram");
    read.push_back({std::string(s.name), s.labels, s.value});
  });
  demand(read.size() <= bounds.series, "too many series");
  if (!outcome) demand(!outcome.error().message.empty(), "an error without a sentence");

  exposition::writer writer;
  for (const copy& c : read) {
    writer.begin(c.name, binnacle::metrics::kind::gauge, "help \\ \" \n of it");
    writer.add(c.labels, c.value);
  }
  std::size_t at = 0;
  const auto again = exposition::parse(writer.take(), {}, [&](const exposition::sample& s) {
    demand(at < read.size() && read[at].same({std::string(s.name), s.labels, s.value}),
           "read back differently");
    demand(s.help == "help \\ \" \n of it", "help read back differently");
    ++at;
  });
  demand(again.has_value() && at == read.size(), "what was written cannot be read");
  return 0;
}

}  // namespace fuzz_exposition
