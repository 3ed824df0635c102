// binnacle top: live on the whole screen at a terminal, otherwise one table.
#include "cli/views/top.hpp"

#include "cli/blocking.hpp"
#include "cli/commands.hpp"
#include "cli/top/watch.hpp"
#include "cli/upstream.hpp"
#include "common/http/target.hpp"

#include <ostream>
#include <utility>

namespace binnacle::cli {
namespace {

async::task<result<upstream::told>> asked(connection to, std::string target) {
  auto from = upstream::open(to);
  if (from.has_error()) co_return from.error();
  upstream::told t = co_await from->ask_one(std::move(target));
  if (t.said.has_error()) co_return t.said.error();
  co_return t;
}

}  // namespace

int top_command(const connection& to, const top_arguments& what, const terminal& on) {
  if (!what.once && !on.json && on.is_tty) return top::watch(to, what, on);
  const auto a = blocking(asked(to, nodes_target(what.metrics)));
  if (a.has_error()) {
    on.err << "binnacle: " << a.error().message << '\n';
    return exit_problem;
  }
  on.out << (on.json ? a->said->text : render_top(a->said->json, a->url, what.metrics, on.with));
  return metrics_without_value(a->said->json, what.metrics).empty() ? exit_ok : exit_problem;
}

}  // namespace binnacle::cli
