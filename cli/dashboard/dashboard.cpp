// binnacle dashboard: serves a page on loopback that shows what this command may read.
#include "cli/dashboard/dashboard.hpp"

#include "cli/dashboard/open_browser.hpp"
#include "cli/dashboard/site.hpp"
#include "cli/json.hpp"
#include "cli/upstream.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/http/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include <optional>
#include <ostream>
#include <utility>

namespace binnacle::cli::dashboard {
namespace {

using async::task;
using namespace std::chrono_literals;

constexpr std::size_t most_connections = 64;  // a browser makes at most six to one server

http::server_options on_loopback(std::uint16_t port) {
  http::server_options o;
  o.name = "dashboard";
  o.address = "127.0.0.1";
  o.port = port;
  o.header_limit = 16u << 10;
  o.max_connections = most_connections;
  return o;
}

task<void> until_interrupted(async::loop& on, http::server& page, feed& what, history::database* past) {
  co_await async::stop_signal();
  what.stop();
  if (past != nullptr) past->stop();
  page.stop(200ms, [&on] { on.stop(); });
}

}  // namespace

int dashboard_command(const connection& to, const dashboard_arguments& what, const terminal& on) {
  const auto complain = [&](const error& e) {
    on.err << "binnacle: " << e.message << '\n';
    return static_cast<int>(exit_problem);
  };
  if (const auto fits = history::check(what.history); fits.has_error()) return complain(fits.error());
  auto from = upstream::open(to);
  if (from.has_error()) return complain(from.error());
  const logger log("dashboard", log_level::warning);
  async::loop loop(1);
  door who(random_secret);
  std::unique_ptr<history::database> past;
  if (!what.history.url.empty()) {
    auto opened = history::database::open(loop, what.history, log);
    if (opened.has_error()) return complain(opened.error());
    past = std::move(*opened);
  }
  rounds doctor(
      loop, [to] { return place_of_rounds(to); }, checks_of_cluster());
  pod_names names(loop, [to] { return place_of_rounds(to); });
  feed pages(loop, std::move(*from), doctor, names, log);
  http::server server(loop, on_loopback(what.port), routes(who, pages, past.get()), log);
  if (const auto open = server.start(); open.has_error()) return complain(open.error());
  who.serve_at(server.port());

  const auto new_link = [&who] { return who.origin() + "/#link=" + who.new_link(boot_clock::now()); };
  std::optional<browser_page> shown;
  if (what.open) {
    auto opened = browser_page::open(new_link());  // a link opens one page; the printed one is another
    // If the browser cannot be started, the person can still open the printed link.
    if (opened.has_value())
      shown = std::move(*opened);
    else
      (void)complain(opened.error());
  }
  const std::string link = new_link();
  if (on.json) {
    on.out << to_text(json::object{{"link", link}}) << '\n';
  } else {
    on.out << "The dashboard, for one page, within ten minutes:\n  " << on.with(colour::bold, link)
           << "\nThe page can make links for other pages. Ctrl-C ends the command.\n";
  }
  on.out.flush();
  boost::asio::co_spawn(loop.get_executor(), until_interrupted(loop, server, pages, past.get()),
                        boost::asio::detached);
  async::run(loop, log);
  return exit_ok;
}

}  // namespace binnacle::cli::dashboard
