#include "aggregator/exports.hpp"

#include "aggregator/part_options.hpp"
#include "common/async/timers.hpp"

#include <utility>

namespace binnacle::aggregator {
result<void> exports::start(const settings& s, async::loop& on, async::task_group& tasks,
                            const std::function<bool()>& leads, const logger& log) {
  for (const export_settings* where : s.exports()) {
    if (where->url.empty()) continue;
    const std::string name(exporter::dialect_of(where->speaks).called);
    auto opened = exporter::exporter::open(exporter_settings_of(s, *where), log.part(name));
    if (opened.has_error()) return opened.error();
    exporter::exporter& to = **opened;
    writers_.push_back({where->speaks, std::move(*opened)});
    const auto may = where->by == sender::leader ? leads : [] { return true; };
    tasks.keep(name, [this, &on, &to, may, interval = where->interval] {
      return keep_writing(on, to, interval, may);
    });
    log.info("readings are written to {} every {}", where->url, human(where->interval));
  }
  return {};
}

/// Gives the writer all rows, which it reads for itself.
async::task<void> exports::keep_writing(async::loop& on, exporter::exporter& to, duration interval,
                                        std::function<bool()> may) const {
  async::periodic_timer timer(on, interval);
  for (;;) {
    co_await timer.next();
    if (!may()) {
      to.rest();
      continue;
    }
    exporter::fleet all;
    all.reserve(nodes_.nodes().size());
    for (const auto& [name, node] : nodes_.nodes()) {
      if (node->cells != nullptr) all.push_back({name, node->cells});
    }
    to.take(std::move(all));
  }
}

std::vector<exports::report> exports::counted() const {
  std::vector<report> out;
  for (const writer& w : writers_) out.push_back({w.by, w.it->counted()});
  return out;
}

}  // namespace binnacle::aggregator
