#include "agent/self.hpp"

#include "common/system/process_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace binnacle::agent {

self_source::self_source(origins from, duration period, clocks time)
    : from_(std::move(from)), period_(period), time_(std::move(time)) {}

board::series_ref self_source::labelled(board& out, const char* family, const char* label,
                                        const std::string& value) {
  return out.add_series(group_, family, {{label, value}});
}

result<void> self_source::discover(board& out) {
  group_ = out.add_group("agent", "", period_, metrics::stale_after(period_));
  out.set(labelled(out, "binnacle_agent_info", "version", BINNACLE_VERSION), std::int64_t{1});
  return {};
}

result<void> self_source::read(board& out) {
  read_sources(out);
  read_absences(out);
  read_links(out);
  read_cost(out);
  out.set(out.add_series(group_, "binnacle_tls_reload_failed", {}),
          std::int64_t{from_.reload_failed() ? 1 : 0});
  out.set(out.add_series(group_, "binnacle_agent_series", {}), static_cast<std::int64_t>(out.live_series()));
  for (const auto& r : out.refused()) {
    out.set(labelled(out, "binnacle_agent_refused_series_total", "reason", std::string(r.reason)),
            static_cast<std::int64_t>(r.count));
  }
  read_ports(out);
  out.mark_read(group_, time_.now());
  return {};
}

// Most agents never close a connection for this, so each series is made only when there is something to
// count.
void self_source::read_ports(board& out) {
  if (!from_.dropped) return;
  for (const auto& [why, count] : from_.dropped()) {
    if (count > 0)
      out.set(labelled(out, "binnacle_agent_http_dropped_total", "reason", why),
              static_cast<std::int64_t>(count));
  }
}

void self_source::read_sources(board& out) {
  for (const auto& h : from_.sources()) {
    if (h.source == name()) continue;
    out.set(labelled(out, "binnacle_agent_source_up", "source", h.source), std::int64_t{h.up ? 1 : 0});
    out.set(labelled(out, "binnacle_agent_source_read_seconds", "source", h.source),
            std::chrono::duration<double>(h.last_read).count());
    out.set(labelled(out, "binnacle_agent_source_period_seconds", "source", h.source),
            std::chrono::duration<double>(h.period).count());
    out.set(labelled(out, "binnacle_agent_frozen_sensors", "source", h.source),
            static_cast<std::int64_t>(h.stuck));
    out.set(labelled(out, "binnacle_agent_missed_ticks_total", "source", h.source),
            static_cast<std::int64_t>(h.missed));
    for (const auto& [event, count] : h.events) {
      out.set(out.add_series(group_, "binnacle_agent_source_events_total",
                             {{"source", h.source}, {"event", std::string(event)}}),
              static_cast<std::int64_t>(count));
    }
  }
}

// Counts the series that /metrics leaves out, by reason. A series of this count that was once above 0 stays,
// as 0.
void self_source::read_absences(board& out) {
  std::map<std::pair<std::string_view, absence>, std::int64_t> now;
  for (const auto& e : out.series()) {
    if (!e.removed && e.reason != absence::none) ++now[{out.groups()[e.info.group].info.source, e.reason}];
  }
  for (const auto& [what, count] : now) {
    const auto& [source, reason] = what;
    auto& series = absences_.try_emplace({std::string(source), reason}, board::no_series).first->second;
    if (series != board::no_series) continue;
    series = out.add_series(group_, "binnacle_agent_absent_series",
                            {{"source", std::string(source)}, {"reason", std::string(to_string(reason))}});
  }
  for (const auto& [what, series] : absences_) {
    const auto count = now.find({what.first, what.second});
    out.set(series, count == now.end() ? std::int64_t{0} : count->second);
  }
}

void self_source::read_links(board& out) {
  const auto report = from_.links();
  if (report.links.empty()) return;
  const auto told = [&](const std::string& replica) {
    return std::ranges::find(report.links, replica, &link_report::aggregator) != report.links.end();
  };
  std::erase_if(replicas_, [&](const std::string& known) {
    if (told(known)) return false;
    // Remove the series under the address: the replica's id is known now.
    for (const auto* family :
         {"binnacle_agent_connected", "binnacle_agent_batches_total", "binnacle_agent_sent_bytes_total"}) {
      out.remove_series(labelled(out, family, "aggregator", known));
    }
    return true;
  });
  for (const auto& link : report.links) {
    const auto& replica = link.aggregator;
    if (std::find(replicas_.begin(), replicas_.end(), replica) == replicas_.end())
      replicas_.push_back(replica);
    out.set(labelled(out, "binnacle_agent_connected", "aggregator", replica),
            std::int64_t{link.connected ? 1 : 0});
    out.set(labelled(out, "binnacle_agent_batches_total", "aggregator", replica),
            static_cast<std::int64_t>(link.batches));
    out.set(labelled(out, "binnacle_agent_sent_bytes_total", "aggregator", replica),
            static_cast<std::int64_t>(link.bytes));
  }
  out.set(out.add_series(group_, "binnacle_agent_reconnects_total", {}),
          static_cast<std::int64_t>(report.reconnects));
  out.set(out.add_series(group_, "binnacle_agent_left_out_items_total", {}),
          static_cast<std::int64_t>(report.left_out));
  out.set(out.add_series(group_, "binnacle_agent_conflated_values_total", {}),
          static_cast<std::int64_t>(report.conflated));
  read_budget(out, report);
}

void self_source::read_budget(board& out, const uplink_report& report) {
  if (report.budget <= 0) return;
  out.set(labelled(out, "binnacle_agent_send_wait_periods", "series", "watched"),
          std::int64_t{report.watched_wait});
  out.set(labelled(out, "binnacle_agent_send_wait_periods", "series", "others"),
          std::int64_t{report.others_wait});
  limitation_.clear();
  if (report.others_wait == 1) return;
  limitation_ = fmt::format(
      "the links may take {:.0f} bytes a second (uplink-budget), so series that no policy watches are "
      "sent every {} periods",
      report.budget, report.others_wait);
  if (report.watched_wait > 1) limitation_ += fmt::format(", watched ones every {}", report.watched_wait);
}

void self_source::read_cost(board& out) {
  const process_cost cost = own_cost();
  out.set(out.add_series(group_, "binnacle_agent_cpu_seconds_total", {}), cost.cpu_seconds);
  const auto resident = out.add_series(group_, "binnacle_agent_resident_bytes", {});
  if (!cost.resident_bytes) return out.set_absent(resident, absence::missing);
  out.set(resident, static_cast<std::int64_t>(*cost.resident_bytes));
}

}  // namespace binnacle::agent
