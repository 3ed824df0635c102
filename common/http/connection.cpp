// One HTTP connection from accept to close, as one coroutine, and what keeps it from costing others anything.
//
//   begin()  TLS ─→ one_request()  wait ─→ head ─→ guard ─→ body ─→ handler ─→ answer ─┐ ─→ end()
//                        ↑                                                             │
//                        └──────────────────────── keep-alive ─────────────────────────┘
//
// - Every wait has its own deadline: handshake, first byte, head, body, handler, write, idle. A peer that
//   drips a byte a second moves none of them.
// - An idle connection has no buffer. The buffer is allocated with the first byte of a request and given back
//   when the answer is there, because thousands of connections idle at once. A caller without a certificate
//   of ours begins with a small one, and only so many such callers may have a large one
//   (server_options::most_large_buffers).
// - A peer may send many requests at once. A request that came together with an earlier one waits for a turn
//   of the loop, and a port serves one such request in a turn. So many connections full of requests delay
//   others no more than one does. Callers that wait for each answer never wait here.
// - An answer waits in our memory until its peer takes it, and the kernel takes little of it in advance. A
//   port has a bound for all of them (server_options::most_answer_bytes).
// - A body that a path does not take is never read: the handler answers, and the connection ends.
// - At every moment the connection says what it waits for (waits_for), so that a newcomer replaces the one
//   that loses least: places.hpp.
// - Handlers answer by a callback that may come at once, later or never, and on this thread. The answer
//   goes into a slot that outlives the connection, so a handler that answers too late writes into
//   something that nobody reads. A handler that drops its callback unused answers 500 (last_word).
// - What a handler throws ends that request with 500 and is logged. It never ends the loop.
// - Closing while bytes are unread would reset the connection, and the peer could lose the answer that
//   tells it why. So end() first stops writing, and then reads for two seconds, or until the answer was
//   taken.

#include "common/http/connection.hpp"

#include "common/async/network.hpp"
#include "common/async/timers.hpp"
#include "common/clock.hpp"
#include "common/http/answer.hpp"
#include "common/http/live.hpp"
#include "common/http/request_parser.hpp"
#include "common/http/target.hpp"
#include "common/http/whole_body.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

namespace binnacle::http {

using async::task;
using async::within;

namespace {

constexpr std::size_t buffer_size = 64u << 10;
constexpr std::size_t small_buffer = 4u << 10;  // for a caller without a certificate, until more is needed
constexpr std::chrono::seconds last_look{2};    // how long we read from a peer that has had its answer
constexpr std::chrono::milliseconds between_looks{100};
constexpr std::size_t small_answer = 16u << 10;  // is not counted: a connection may take this much anyway
// The kernel takes about so much of an answer in advance; more waits in our memory, where it is counted. A
// container pays for the kernel's queues as for its own memory (cgroup v2), and a caller without a
// certificate may have every place there is.
constexpr int unsent = 64 << 10, unsent_to_a_stranger = 8 << 10, unread_of_a_stranger = 64 << 10;
constexpr std::chrono::seconds live_pause{10};  // a live answer is asked at least so often
constexpr std::size_t live_part = 64u << 10;    // what a peer must take within write_deadline
// How many bits count as one address. With IPv6 a caller usually has a whole /64, that is 2^64 addresses.
constexpr unsigned v4_bits = 32, v6_bits = 64;

/// Receives the answer of a handler or a guard, which comes at once, later or never. If the peer goes away,
/// the waiter is removed before the slot is destroyed.
template <class T>
struct slot {
  std::optional<T> value;
  async::event* waiter = nullptr;

  void put(T v) {
    if (value) return;
    value = std::move(v);
    if (waiter != nullptr) waiter->notify();
  }
};
using answer_slot = slot<response>;
using ruling_slot = slot<ruling>;

/// Shared by the copies of one reply. If all copies are destroyed unused, the peer gets a 500.
struct last_word {
  last_word(std::shared_ptr<answer_slot> s, failure_form f) : slot(std::move(s)), failure(f) {}
  last_word(const last_word&) = delete;
  last_word& operator=(const last_word&) = delete;
  ~last_word() { slot->put(failure(500, "the handler gave no answer")); }
  std::shared_ptr<answer_slot> slot;
  failure_form failure;
};

}  // namespace

class connection final : public guest {
 public:
  connection(server_core& core, async::tcp_socket socket)
      : guest(place_of(socket), boot_clock::now()),
        core_(core),
        stream_(std::move(socket), core.options.tls ? core.options.tls->current() : nullptr,
                tls::role::server),
        answered_(core.loop),
        place_(core.open.insert(core.open.end(), this)) {
    stream_.keep_unsent(unsent_to_a_stranger);
    core_.seats.enter(*this);
    ++core_.counters.open;
  }
  ~connection() override {
    core_.seats.leave(*this);
    --core_.counters.open;
    core_.open.erase(place_);
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// The TLS handshake and its checks. False if the connection is to end without serving a request.
  task<bool> begin();
  /// Serves one request; false when the connection is to end.
  task<bool> one_request();
  /// Closes so that the peer can still read the last answer.
  task<void> end();
  void close_if_idle() {
    if (idle_) stream_.close();
  }

  /// Cuts the connection if its certificate is denied by now.
  void end_if_denied() {
    if (has_seat() && is_denied()) evict();
  }

  void evict() override {
    core_.seats.leave(*this);
    stream_.drop();
  }

 private:
  /// Whether the certificate is denied by now. Each time this is so, it is counted.
  bool is_denied();

  void waits_for(wait what) { guest::waits_for(what, boot_clock::now()); }
  void drop_buffer() {
    core_.seats.leave_large(*this);
    buffer_.reset();
    size_ = from_ = to_ = 0;
  }
  /// Enlarges the buffer to `size`; its content stays.
  void widen(std::size_t size);
  enum class heard { head, nothing, end };
  task<heard> read_head(request_parser& parser);
  task<bool> read_body(request_parser& parser, exchange& to);
  /// What the guard decides about the request. Without a guard it may go on.
  task<ruling> judged(const request& head);
  task<void> answer_from(exchange& with, std::shared_ptr<answer_slot> slot);
  template <class T>
  task<bool> arrived(slot<T>& at);
  /// Counts an answer of so many bytes, which is to wait for its peer. Others may have to go.
  void begin_answer(std::size_t bytes);
  /// Counts a write of so many bytes. If it failed, the connection is dropped, and the result is false.
  bool was_written(const result<void>& sent, std::size_t bytes);
  task<bool> send(const response& answer, const request_parser& parser, bool keep_alive);
  task<void> send_live(const response& answer, live_exchange& from);
  /// Only a connection whose last body was read whole may be kept: reading a body that nobody wants is not
  /// worth it.
  bool may_be_kept(const request_parser& parser) const {
    return parser.now() == request_parser::phase::done && parser.keep_alive() && !core_.stopping &&
           !core_.retiring;
  }
  task<bool> refuse(request_parser& parser);
  /// A refusal in the form of this face.
  response failure(unsigned status, std::string_view sentence) const {
    return core_.routes.failure()(status, sentence);
  }
  /// The answer after a guard or handler (`what`) threw, which is logged.
  response failed(std::string_view what, const std::exception& why) const;
  task<result<std::size_t>> fill(async::deadline until);
  std::unique_ptr<exchange> make_exchange(const router::match& found, const request& head,
                                          const request_parser& parser);

  std::string_view input() const { return {buffer_.get() + from_, to_ - from_}; }
  void drop_input(std::size_t n) {
    from_ += n;
    if (from_ == to_) from_ = to_ = 0;
  }

  server_core& core_;
  bool is_new_ = true;  // no request has come yet
  /// When the next request must have begun. It stays while bytes of TLS come that are no request: a part of a
  /// record counts as something to read for as long as the rest does not come.
  std::optional<async::deadline> begins_by_;
  async::stream stream_;
  async::event answered_;
  std::list<connection*>::iterator place_;
  std::optional<tls::identity> peer_;
  std::shared_ptr<const tls::shown_chain> shown_;
  std::unique_ptr<char[]> buffer_;  // none while idle
  std::size_t size_ = 0, from_ = 0, to_ = 0;
  bool idle_ = false;
};

bool connection::is_denied() {
  const auto& tls = core_.options.tls;
  if (!tls || !stream_.peer_is_denied(*tls)) return false;
  const instant now = boot_clock::now();
  core_.counters.denied.add(stream_.peer_address(), now);
  core_.tls_warning.say(core_.log, now,
                        core_.options.name + ": no connection with " + stream_.peer_address() +
                            ": the serial number of its certificate is denied");
  return true;
}

task<bool> connection::begin() {
  const server_options& o = core_.options;
  if (o.tls) {
    const auto first =
        co_await stream_.wait_readable(within(std::min(o.first_byte_deadline, o.header_deadline)));
    if (first.has_error()) {
      if (first.error().code == errc::timeout) ++core_.counters.silent;
      co_return false;
    }
  }
  const auto shaken = co_await stream_.handshake(within(o.header_deadline), &core_.handshakes);
  // The list of denied certificates may have changed during the handshake.
  if (is_denied()) co_return false;
  if (shaken.has_value()) {
    tls::identity who;
    if (stream_.peer_identity(who)) peer_ = std::move(who);
    if (peer_) {
      showed_certificate();
      stream_.keep_unsent(unsent);
    } else {
      stream_.keep_unread(unread_of_a_stranger);
    }
    shown_ = stream_.peer_shown();
    co_return true;
  }
  ++core_.counters.handshake_failures;
  if (shaken.error().code == errc::timeout) ++core_.counters.timeouts;
  if (shaken.error().code == errc::overloaded) ++core_.counters.floods;
  if (stream_.peer_spoke_http()) {
    response sentence = failure(400, "this port serves HTTPS only: use https://");
    stream_.write_plain(head_of(sentence, false, false) + sentence.body.front());
    co_return false;
  }
  // A certificate that is wrong, or not read, is worth a warning, because a person must replace it. Other
  // faults are noise on an open port.
  const std::string sentence = core_.options.name + ": no TLS connection with " + stream_.peer_address() +
                               ": " + shaken.error().message;
  if (shaken.error().code == errc::permission || shaken.error().code == errc::overloaded) {
    core_.tls_warning.say(core_.log, boot_clock::now(), sentence);
  } else {
    core_.log.debug("{}", sentence);
  }
  co_return false;
}

void connection::widen(std::size_t size) {
  if (size <= size_) return;
  if (size > small_buffer && !peer_ && has_seat()) {
    if (guest* const other = core_.seats.gives_way_to_large()) {
      ++core_.counters.evicted;
      other->evict();
    }
    core_.seats.enter_large(*this);
  }
  auto wider = std::make_unique_for_overwrite<char[]>(size);
  std::copy_n(buffer_.get(), to_, wider.get());
  buffer_ = std::move(wider);
  size_ = size;
}

task<result<std::size_t>> connection::fill(async::deadline until) {
  if (to_ == size_ && from_ == 0) widen(size_ == 0 && !peer_ ? small_buffer : buffer_size);
  if (from_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + from_, to_ - from_);
    to_ -= from_;
    from_ = 0;
  }
  auto got = co_await stream_.read_some(std::span(buffer_.get() + to_, size_ - to_), until);
  if (got.has_error()) {
    if (got.error().code == errc::overloaded) {
      ++core_.counters.floods;
      core_.tls_warning.say(
          core_.log, boot_clock::now(),
          core_.options.name + ": ended with " + stream_.peer_address() + ": " + got.error().message);
    }
    co_return got;
  }
  to_ += *got;
  core_.counters.bytes_in += *got;
  co_return got;
}

task<bool> connection::one_request() {
  if (!is_new_ && (!input().empty() || stream_.buffered())) {
    waits_for(wait::request);
    co_await core_.pipelined.pass(from());
    if (!has_seat()) co_return false;  // it gave way to a newcomer meanwhile
  }
  const bool strange = is_new_ && !is_known();
  const server_options& o = core_.options;
  if (!begins_by_)
    begins_by_ = within(strange ? std::min(o.first_byte_deadline, o.idle_deadline) : o.idle_deadline);
  if (input().empty()) {
    drop_buffer();
    idle_ = true;
    waits_for(wait::request);
    const auto ready = co_await stream_.wait_readable(*begins_by_);
    idle_ = false;
    if (ready.has_error() && strange && ready.error().code == errc::timeout) ++core_.counters.silent;
    if (ready.has_error() || core_.stopping) co_return false;
  }
  request_parser parser(std::min(o.header_limit, buffer_size - 1));
  const heard read = co_await read_head(parser);
  if (read == heard::nothing) {
    if (std::chrono::steady_clock::now() < *begins_by_) co_return true;
    if (strange) ++core_.counters.silent;
    co_return false;
  }
  if (read == heard::end) co_return false;
  begins_by_.reset();
  waits_for(wait::handler);
  is_new_ = false;
  request& head = parser.head();
  if (parser.now() != request_parser::phase::refused) {
    ++core_.counters.requests;
    if (const auto parsed = parse_target(std::string(head.target), head); parsed.has_error()) {
      parser.refuse(400, parsed.error().message);
    }
  }
  if (parser.now() == request_parser::phase::refused) co_return co_await refuse(parser);
  head.peer = peer_;
  head.shown = shown_;
  head.peer_address = stream_.peer_address();
  head.from = from();

  const auto found = core_.routes.find(head);
  ruling decided = co_await judged(head);
  if (!decided.refusal) decided.refusal = found.refusal;
  if (decided.refusal) {
    co_return co_await send(*decided.refusal, parser, may_be_kept(parser));
  }
  head.caller = std::move(decided.caller);
  if (head.caller.empty() && peer_) head.caller = peer_->common_name;
  if (found.body_limit > 0) parser.limit_body(found.body_limit);
  if (parser.now() == request_parser::phase::refused) co_return co_await refuse(parser);

  auto slot = std::make_shared<answer_slot>();
  if (const auto work = make_exchange(found, head, parser)) {
    if (found.body_limit > 0 && !co_await read_body(parser, *work)) co_return false;
    if (parser.now() == request_parser::phase::refused) co_return co_await refuse(parser);
    co_await answer_from(*work, slot);
    auto* const live = dynamic_cast<live_exchange*>(work.get());
    if (live != nullptr && slot->value->status == 200 && !parser.is_head_request()) {
      co_await send_live(*slot->value, *live);
      co_return false;
    }
  } else {
    slot->put(failure(500, "the handler failed"));
  }
  const response& answer = *slot->value;
  co_return co_await send(answer, parser, may_be_kept(parser) && !answer.close);
}

std::unique_ptr<exchange> connection::make_exchange(const router::match& found, const request& head,
                                                    const request_parser& parser) {
  try {
    if (found.streaming != nullptr) return (*found.streaming)(head);
    // Reserved in advance, but no more than the peer may make us hold anyway.
    const auto expected = std::min<std::uint64_t>(parser.content_length().value_or(0), found.body_limit);
    return std::make_unique<whole_body>(head, *found.simple, static_cast<std::size_t>(expected));
  } catch (const std::exception& e) {
    core_.log.error("{}: the handler of {} failed: {}", core_.options.name, head.decoded_path(), e.what());
    return nullptr;
  }
}

// A refusal is left in the parser. `nothing`: we were woken by something other than a byte of a request, for
// example a key update of TLS, or a part of a record.
task<connection::heard> connection::read_head(request_parser& parser) {
  const auto until = within(core_.options.header_deadline);
  const request_parser::sink no_body = [](std::string_view) { return false; };
  bool began = false;
  for (;;) {
    began = began || !input().empty();
    drop_input(parser.feed(input(), no_body));
    if (parser.now() != request_parser::phase::head) co_return heard::head;
    const auto got = co_await fill(until);
    if (got.has_value() && *got > 0) continue;
    if (got.has_error() && got.error().code == errc::timeout) {
      if (!began) co_return heard::nothing;
      ++core_.counters.timeouts;
      parser.refuse(408, "the request did not arrive in time");
      co_return heard::head;
    }
    if (began) ++core_.counters.malformed;
    co_return heard::end;
  }
}

task<bool> connection::read_body(request_parser& parser, exchange& to) {
  const auto until = within(core_.options.body_deadline);
  bool failed = false;
  const request_parser::sink pass = [&](std::string_view piece) {
    try {
      return to.consume(piece);
    } catch (const std::exception& e) {
      core_.log.error("{}: reading the body of {} failed: {}", core_.options.name,
                      parser.head().decoded_path(), e.what());
      failed = true;
      return false;
    }
  };
  if (parser.now() == request_parser::phase::body && parser.expects_continue() && input().empty()) {
    const auto sent = co_await stream_.write("HTTP/1.1 100 Continue\r\n\r\n", until);
    if (sent.has_error()) co_return false;
  }
  waits_for(wait::peer);
  while (parser.now() == request_parser::phase::body) {
    drop_input(parser.feed(input(), pass));
    if (failed) parser.refuse(500, "the handler failed");
    if (parser.now() != request_parser::phase::body) break;
    if (input().size() == buffer_size) {
      parser.refuse(400, "a chunk header or trailer is too long");
      break;
    }
    widen(buffer_size);
    const auto got = co_await fill(until);
    if (got.has_value() && *got > 0) {
      came_on(*got, boot_clock::now());
      continue;
    }
    if (got.has_value() || got.error().code != errc::timeout) co_return false;
    ++core_.counters.timeouts;
    parser.refuse(408, "the body did not arrive in time");
  }
  waits_for(wait::handler);
  co_return true;
}

// Waits as long as a handler may take; false if nothing came in that time.
template <class T>
task<bool> connection::arrived(slot<T>& at) {
  struct stops_waiting {
    explicit stops_waiting(slot<T>& s) : where(s) {}
    ~stops_waiting() { where.waiter = nullptr; }
    slot<T>& where;
  };
  const stops_waiting guard(at);
  at.waiter = &answered_;
  const auto until = within(core_.options.handler_deadline);
  while (!at.value) {
    const bool woken = co_await answered_.wait(until);
    if (woken || std::chrono::steady_clock::now() < until) continue;
    ++core_.counters.timeouts;
    co_return false;
  }
  co_return true;
}

response connection::failed(std::string_view what, const std::exception& why) const {
  core_.log.error("{}: {} failed: {}", core_.options.name, what, why.what());
  return failure(500, "the handler failed");
}

task<ruling> connection::judged(const request& head) {
  ruling out;
  const guard& asked = core_.routes.asked_first();
  if (!asked) co_return out;
  auto answer = std::make_shared<ruling_slot>();
  try {
    asked(head, [answer](ruling r) { answer->put(std::move(r)); });
  } catch (const std::exception& e) {
    out.refusal = failed("a guard", e);
    co_return out;
  }
  if (co_await arrived(*answer)) co_return std::move(*answer->value);
  out.refusal = failure(503, "it could not be checked in time whether you may do this");
  co_return out;
}

task<void> connection::answer_from(exchange& with, std::shared_ptr<answer_slot> slot) {
  try {
    auto word = std::make_shared<last_word>(slot, core_.routes.failure());
    with.finish([word = std::move(word)](response r) { word->slot->put(std::move(r)); });
  } catch (const std::exception& e) {
    slot->value = failed("a handler", e);
  }
  const bool came = co_await arrived(*slot);
  if (!came) slot->value = failure(503, "the handler did not answer in time");
}

task<bool> connection::refuse(request_parser& parser) {
  ++core_.counters.malformed;
  const response answer = failure(parser.status(), parser.why());
  co_return co_await send(answer, parser, false);
}

void connection::begin_answer(std::size_t bytes) {
  if (input().empty()) drop_buffer();
  if (bytes <= small_answer || !has_seat()) return;
  const instant now = boot_clock::now();
  while (guest* const other = core_.seats.gives_way_to_answer(bytes, now)) {
    ++core_.counters.slow;
    other->evict();
  }
  core_.seats.enter_answer(*this, bytes);
}

bool connection::was_written(const result<void>& sent, std::size_t bytes) {
  if (sent.has_error()) {
    if (sent.error().code == errc::timeout) ++core_.counters.timeouts;
    stream_.drop();
    return false;
  }
  core_.counters.bytes_out += bytes;
  return true;
}

// Returns whether the connection goes on.
task<bool> connection::send(const response& answer, const request_parser& parser, bool keep_alive) {
  const auto until = within(core_.options.write_deadline);
  if (!parser.is_head_request()) begin_answer(length_of(answer));
  answer_slices slices(answer, head_of(answer, keep_alive, parser.is_http10()), !parser.is_head_request());
  for (auto piece = slices.next(); !piece.empty(); piece = slices.next()) {
    waits_for(wait::peer);
    const auto sent = co_await stream_.write(piece, until);
    if (!was_written(sent, piece.size())) co_return false;
  }
  core_.seats.leave_answer(*this);
  if (answer.status < 400) was_served();
  co_return keep_alive;
}

// Sends pieces until the peer goes away, takes nothing for too long, or the server stops.
task<void> connection::send_live(const response& answer, live_exchange& from) {
  was_served();
  from.wake_with([this] { answered_.notify(); });
  for (std::string piece = head_of_live(answer); !core_.stopping; piece = from.next()) {
    if (piece.empty()) {
      waits_for(wait::handler);
      co_await answered_.wait(within(live_pause));
      continue;
    }
    begin_answer(piece.size());
    // Each part has its own deadline, so a peer may be slow as long as it takes something.
    for (std::string_view rest = piece; !rest.empty() && !core_.stopping;) {
      const std::string_view part = rest.substr(0, live_part);
      waits_for(wait::peer);
      const auto sent = co_await stream_.write(part, within(core_.options.write_deadline));
      if (!was_written(sent, part.size())) co_return;
      rest.remove_prefix(part.size());
    }
    core_.seats.leave_answer(*this);
  }
}

task<void> connection::end() {
  // Closing with unread bytes would reset the connection, and the peer might lose the answer that says why
  // (RFC 9112 9.6). A peer that has not taken its answer yet keeps its place meanwhile: the kernel would keep
  // the answer, and nobody would count it.
  stream_.end_writing();
  waits_for(wait::end);
  core_.seats.leave_answer(*this);
  drop_buffer();
  widen(small_buffer);
  const auto last = within(core_.options.write_deadline);
  for (auto until = within(last_look);;) {
    const auto got = co_await stream_.read_some(std::span(buffer_.get(), size_), until);
    const bool is_silent = got.has_error() && got.error().code == errc::timeout;
    if (got.has_error() && !is_silent) break;
    if (got.has_value() && *got > 0) {
      core_.counters.bytes_in += *got;
      continue;
    }
    if (!stream_.unacknowledged() || std::chrono::steady_clock::now() >= last) break;
    until = within(last_look);
    if (!is_silent) co_await async::sleep_for(between_looks);  // it has said its last, and may still read
  }
  stream_.drop();
}

task<void> serve(std::shared_ptr<server_core> core, async::tcp_socket socket) {
  connection it(*core, std::move(socket));
  if (co_await it.begin()) {
    while (co_await it.one_request()) {
    }
  }
  co_await it.end();
}

network place_of(const async::tcp_socket& socket) { return async::network_of(socket, v4_bits, v6_bits); }

bool make_room(server_core& core, const network& from) {
  guest* const other = core.seats.gives_way_to(from, boot_clock::now());
  if (other == nullptr) return false;
  ++core.counters.evicted;
  other->evict();
  return true;
}

void end_denied(server_core& core) {
  for (connection* one : core.open) one->end_if_denied();
}

void close_idle(server_core& core) {
  for (connection* one : core.open) one->close_if_idle();
}

}  // namespace binnacle::http
