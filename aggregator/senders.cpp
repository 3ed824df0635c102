#include "aggregator/senders.hpp"

#include "aggregator/settings/part_options.hpp"
#include "common/async/timers.hpp"

#include <utility>

namespace binnacle::aggregator {
result<void> senders::start(const settings& s, async::loop& on, async::task_group& tasks,
                            const std::function<bool()>& leads, uid_reader uid_of, const logger& log) {
  uid_of_ = std::move(uid_of);
  for (const sender_settings* where : s.senders()) {
    if (where->url.empty()) continue;
    const std::string name(sender::dialect_of(where->speaks).called);
    auto opened = sender::sender::open(sender_settings_of(s, *where), log.part(name));
    if (opened.has_error()) return opened.error();
    writer& to = writers_.emplace_back(writer{where->speaks, std::move(*opened)});
    const auto may = where->by == replicas_that_send::leader ? leads : [] { return true; };
    tasks.keep(name, [this, &on, &to, may, interval = where->interval] {
      return keep_writing(on, to, interval, may);
    });
    log.info("readings are written to {} every {}", where->url, human(where->interval));
  }
  return {};
}

/// Gives the writer all rows in each interval. The writer's own thread reads them.
async::task<void> senders::keep_writing(async::loop& on, writer& to, duration interval,
                                        std::function<bool()> may) const {
  async::periodic_timer timer(on, interval);
  for (;;) {
    co_await timer.next();
    if (!may()) {
      to.it->rest();
      continue;
    }
    sender::fleet all;
    all.reserve(nodes_.nodes().size());
    for (const auto& [name, node] : nodes_.nodes()) {
      if (node->cells == nullptr) continue;
      // Only OTLP sends the uid. Remote write has no place for it, so a new uid must not end its series.
      all.push_back({name, node->cells, to.by == sender::protocol::otlp ? uid_of_(name) : std::string()});
    }
    to.it->take(std::move(all));
  }
}

std::vector<sender::report> senders::counted() const {
  std::vector<sender::report> out;
  for (const writer& w : writers_) out.push_back({w.by, w.it->counted()});
  return out;
}

}  // namespace binnacle::aggregator
