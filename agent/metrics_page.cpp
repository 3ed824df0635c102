#include "agent/metrics_page.hpp"

#include "common/exposition/exposition.hpp"
#include "common/exposition/target_labels.hpp"
#include "common/http/health.hpp"
#include "common/shortest.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace binnacle::agent {
namespace {

// A text of 10,000 series takes milliseconds of the loop that also reads the sensors, and anyone who may
// scrape may ask all the time. So a text serves all requests of this time.
constexpr duration kept_for = std::chrono::milliseconds(100);

struct rendered {
  std::string text;
  instant until{};  // when it is too old to be served
};

bool fresh(const board& b, const board::entry& e, instant now) {
  const board::group_entry& g = b.groups()[e.info.group];
  return !e.removed && e.reason == absence::none && g.read_at != instant{} &&
         now < g.read_at + std::chrono::milliseconds(g.info.stale_after_ms);
}

}  // namespace

std::string exposition_of(const board& from, instant now) {
  std::vector<const board::entry*> shown;
  shown.reserve(from.series().size());
  for (const board::entry& e : from.series()) {
    if (fresh(from, e, now)) shown.push_back(&e);
  }
  // The format needs all series of a family together; the board has them in the order in which they were
  // found.
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->info.family < b->info.family; });

  exposition::writer out;
  std::string_view family;
  for (const board::entry* e : shown) {
    if (e->info.family != family) {
      family = e->info.family;
      if (const metrics::family* known = metrics::find(family)) {
        out.begin(*known);
      } else {
        out.begin(family, e->info.type, e->info.help);
      }
    }
    if (e->foreign) {
      // One label of the name `__name__` in a user's file would cost the whole scrape.
      out.add(exposition::with_target({}, e->info.labels), shortest(e->value));
    } else {
      out.add(e->info.labels, e->value);
    }
  }
  return out.take();
}

void mount_metrics_page(http::router& routes, const board& from, std::function<bool()> ready,
                        std::function<instant()> now) {
  auto last = std::make_shared<rendered>();
  routes.add("GET", "/metrics", [&from, last, now = std::move(now)](const http::request&, std::string_view) {
    if (const auto asked = now(); asked >= last->until)
      *last = {exposition_of(from, asked), asked + kept_for};
    http::response answer = http::response::text(last->text);
    answer.content_type = exposition::writer::content_type;
    return answer;
  });
  mount_health(routes, std::move(ready));
}

void mount_health(http::router& routes, std::function<bool()> ready) {
  http::health checks;
  checks.add_ready("sources", std::move(ready));
  http::mount_health(routes, std::move(checks));
}

}  // namespace binnacle::agent
