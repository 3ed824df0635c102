#include "tests/support/machine/perf_sim.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <utility>

namespace binnacle::support {

agent::perf_opener perf_sim::opener() {
  return [this](const agent::perf_request& wanted) { return open(wanted); };
}

// A packet socket: one write is one read, as with the descriptor of a perf group.
descriptor perf_sim::open(const agent::perf_request& wanted) {
  requests_.push_back(wanted);
  const int refused = offline.contains(wanted.cpu)             ? ENODEV
                      : open_descriptors() >= most_descriptors ? EMFILE
                                                               : refusal(wanted);
  if (refused != 0) {
    errno = refused;
    return {};
  }
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    throw std::runtime_error("no socket pair");
  }
  group* into = nullptr;
  for (auto& g : groups_) {
    if (wanted.leader >= 0 && g.leader == wanted.leader) into = &g;
  }
  if (into == nullptr) {
    if (wanted.leader >= 0) throw std::logic_error("a member of a group that was never opened");
    groups_.push_back(
        {.cpu = wanted.cpu, .leader = ends[0], .hardware = wanted.event.type != PERF_TYPE_SOFTWARE});
    into = &groups_.back();
  }
  if (into->cpu != wanted.cpu) throw std::logic_error("a group on two CPUs");
  into->events.push_back({wanted.event, descriptor(ends[1])});
  put_reading(*into);
  return descriptor(ends[0]);
}

void perf_sim::blink(unsigned cpu) {
  for (auto& g : groups_) g.removed = g.removed || g.cpu == cpu;
}

void perf_sim::forget_closed() {
  for (auto& g : groups_) {
    std::erase_if(g.events, [](const event& e) {
      pollfd p{e.peer.get(), 0, 0};
      return ::poll(&p, 1, 0) > 0 && (p.revents & POLLHUP) != 0;
    });
  }
  std::erase_if(groups_, [](const group& g) { return g.events.empty(); });
}

std::size_t perf_sim::open_descriptors() {
  forget_closed();
  std::size_t open = 0;
  for (const auto& g : groups_) open += g.events.size();
  return open;
}

void perf_sim::advance(duration by) {
  forget_closed();
  for (auto& g : groups_) {
    if (offline.contains(g.cpu)) continue;
    if (g.removed) {
      put_reading(g);
      continue;
    }
    const double share = g.hardware ? running(g.events.size()) : 1;
    const auto ns = static_cast<std::uint64_t>(by.count());
    const auto on = static_cast<std::uint64_t>(share * static_cast<double>(ns));
    g.enabled_ns += ns;
    g.running_ns += on;
    for (auto& e : g.events) {
      e.count += static_cast<std::uint64_t>(rate(e.encoding, g.cpu) * static_cast<double>(on) / 1e9 + 0.5);
    }
    put_reading(g);
  }
}

// If the previous reading was not read, the new one replaces it.
void perf_sim::put_reading(const group& g) {
  std::array<std::uint64_t, 64> unread;
  while (::recv(g.leader, unread.data(), sizeof unread, MSG_DONTWAIT) > 0) {
  }
  const std::size_t shown = g.removed ? 1 : g.events.size();
  std::vector<std::uint64_t> text{shown, g.enabled_ns, g.running_ns};
  for (std::size_t i = 0; i < shown; ++i) text.push_back(g.events[i].count);
  (void)::send(g.events.front().peer.get(), text.data(), text.size() * sizeof text[0], MSG_NOSIGNAL);
}

}  // namespace binnacle::support
