#include "aggregator/kube/objects/follow.hpp"

#include "common/async/timers.hpp"

namespace binnacle::kube {

using async::task;
using async::within;

namespace {

constexpr auto head_deadline = std::chrono::seconds(30);
constexpr std::size_t most_list_bytes = 256u << 20;

http::call get(const reflector::action& todo) {
  http::call out;
  out.target = todo.target;
  out.headers = {{"Accept", todo.accept}};
  out.most_bytes = most_list_bytes;
  return out;
}

void count_left_out(client& api, reflector& machine, instant now) {
  const reflector::left_out some = machine.take_left_out();
  if (some.members > 0) api.left_out(some.members, some.last, now);
}

task<void> list(client& api, reflector& machine, reflector::action todo) {
  http::call what = get(todo);
  list_reader body = machine.reader();
  what.take = [&body](std::string_view piece) { body.feed(piece); };
  auto got = co_await api.ask(std::move(what), within(todo.within));
  const instant now = boot_clock::now();
  if (got.has_error()) {
    machine.broke(got.error(), now);
  } else {
    machine.listed(*got, body, now);
    count_left_out(api, machine, now);
  }
}

task<void> watch(client& api, reflector& machine, reflector::action todo,
                 const std::function<void()>& after) {
  http::call what = get(todo);
  auto opened = co_await api.stream(std::move(what), within(head_deadline));
  if (opened.has_error()) {
    machine.broke(opened.error(), boot_clock::now());
    co_return;
  }
  http::answer head = opened->head();
  while (head.status != 200 && head.body.size() < (64u << 10)) {
    auto piece = co_await opened->next(within(head_deadline));
    if (piece.has_error() || piece->empty()) break;
    head.body += *piece;
  }
  bool go_on = machine.opened(head, boot_clock::now());
  after();
  while (go_on) {
    auto piece = co_await opened->next(within(todo.within));
    const instant now = boot_clock::now();
    if (piece.has_error()) {
      machine.broke(piece.error(), now);
      go_on = false;
    } else if (piece->empty()) {
      machine.ended(now);
      go_on = false;
    } else {
      go_on = machine.received(*piece, now);
      count_left_out(api, machine, now);
      after();
    }
  }
}

}  // namespace

task<void> follow(std::shared_ptr<client> api, reflector& machine, std::function<void()> after) {
  for (;;) {
    reflector::action todo = machine.next(boot_clock::now());
    switch (todo.what) {
      case reflector::step::list: co_await list(*api, machine, std::move(todo)); break;
      case reflector::step::watch: co_await watch(*api, machine, std::move(todo), after); break;
      case reflector::step::wait: co_await async::sleep_for(todo.within); break;
    }
    after();
  }
}

task<bool> read_once(std::shared_ptr<client> api, reflector& machine) {
  while (!machine.is_synced() && machine.trouble().empty()) {
    reflector::action todo = machine.next(boot_clock::now());
    if (todo.what == reflector::step::list) {
      co_await list(*api, machine, std::move(todo));
    } else {
      co_await async::sleep_for(todo.within);
    }
  }
  co_return machine.is_synced();
}

}  // namespace binnacle::kube
