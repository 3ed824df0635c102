// binnacle top: asks once a second and draws.
#include "cli/views/top.hpp"

#include "cli/commands.hpp"
#include "cli/screen.hpp"
#include "common/http/target.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ostream>

namespace binnacle::cli {
namespace {

using namespace std::chrono_literals;

/// The replicas in turn: the one that answered last is asked first.
class replicas {
 public:
  static result<replicas> open(const connection& to) {
    replicas r;
    for (const std::string& url : to.aggregators) {
      auto peer = parse_endpoint(url);
      if (peer.has_error()) return peer.error();
      auto c = client::open(*peer, to.pem);
      if (c.has_error()) return c.error();
      r.all_.push_back(std::move(*c));
    }
    return r;
  }

  result<client::answer> get(const std::string& target) {
    result<client::answer> a = error{errc::not_found, "no aggregator is given"};
    for (std::size_t tried = 0; tried < all_.size(); ++tried) {
      a = all_[at_].get(target, 3s);
      if (a.has_value()) return a;
      at_ = (at_ + 1) % all_.size();
    }
    return a;
  }
  const std::string& url() const { return all_[at_].url(); }

 private:
  std::vector<client> all_;
  std::size_t at_ = 0;
};

}  // namespace

int top_command(const connection& to, const top_arguments& what, const terminal& on) {
  auto peers = replicas::open(to);
  if (peers.has_error()) {
    on.err << "binnacle: " << peers.error().message << '\n';
    return exit_problem;
  }
  std::string target = "/api/v1/nodes";
  for (const std::string& m : what.metrics)
    target += (target.ends_with("nodes") ? "?metric=" : "&metric=") + http::query_escaped(m);
  top_layout layout{what.metrics};

  if (what.once || on.json || !on.is_tty) {
    auto a = peers->get(target);
    if (a.has_error()) {
      on.err << "binnacle: " << a.error().message << '\n';
      return exit_problem;
    }
    on.out << (on.json ? a->text : render_top(a->json, peers->url(), layout, on.with));
    return metrics_without_value(a->json, what.metrics).empty() ? exit_ok : exit_problem;
  }

  screen page(on.out);
  for (auto next = std::chrono::steady_clock::now();;) {
    const auto [width, height] = screen::dimensions();
    layout.width = width;
    layout.height = height;
    auto a = peers->get(target);
    page.show(a.has_value() ? render_top(a->json, peers->url(), layout, on.with)
                            : fmt::format("binnacle top\n\n{}\n\nTrying again every second; Ctrl-C ends.\n",
                                          a.error().message));
    next = std::max(next + 1s, std::chrono::steady_clock::now());
    const auto pause =
        std::chrono::duration_cast<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
    if (!page.wait(pause)) return exit_ok;
  }
}

}  // namespace binnacle::cli
