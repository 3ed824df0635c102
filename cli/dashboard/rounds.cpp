#include "cli/dashboard/rounds.hpp"

#include "cli/dashboard/event_parts.hpp"
#include "cli/doctor/doctor.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

namespace binnacle::cli::dashboard {
namespace {

using async::task;

// Without `extender`: each of its questions becomes a decision record.
constexpr std::array<std::string_view, 5> for_pages{"certificates", "kubernetes", "pods", "rights", "clocks"};
// With each peer. Ctrl-C waits for a check that is running.
constexpr int patience_s = 2;

/// `from`: nothing before the round's first check.
doctor::findings looked(const doctor::check& c, std::optional<doctor::place>& from,
                        const std::function<doctor::place()>& where) {
  try {
    if (!from) from = where();
    return c.look(*from);
  } catch (const std::exception& e) {
    return {doctor::unchecked(fmt::format("the check ended with an error: {}", e.what()))};
  }
}

}  // namespace

rounds::rounds(async::loop& on, std::function<doctor::place()> where, std::vector<doctor::check> checks)
    : where_(std::move(where)), checks_(std::move(checks)), thread_(on) {}

task<std::string> rounds::make() {
  std::string text;
  json_writer out(text);
  out.begin_object().key("checks").begin_array();
  // Shared with the thread: a cancelled round leaves while it still looks.
  auto from = std::make_shared<std::optional<doctor::place>>();
  for (const doctor::check& c : checks_) {
    std::function<doctor::findings()> look = [from, where = where_, c] { return looked(c, *from, where); };
    const auto found = co_await thread_.ask(std::move(look));
    if (!found) co_return std::string();
    out.begin_object().field("name", c.name).field("summary", c.summary);
    add_findings(out, *found);
    out.end_object();
  }
  out.end_array().field("nowMs", unix_ms()).end_object();
  co_return text;
}

std::vector<doctor::check> checks_of_cluster() {
  std::vector<doctor::check> out;
  for (const doctor::check& c : doctor::checks()) {
    if (std::ranges::find(for_pages, c.name) != for_pages.end()) out.push_back(c);
  }
  return out;
}

doctor::place place_of_rounds(const connection& to) {
  doctor::doctor_arguments what;
  what.timeout_s = patience_s;
  return doctor::place_of(to, what);
}

}  // namespace binnacle::cli::dashboard
