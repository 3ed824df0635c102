// gRPC's unary calls over HTTP/2, one at a time: a state machine that uses nghttp2's.
//
//   begin()  HEADERS, DATA (5 bytes, the message), END_STREAM ─→ outbox()
//   feed()   SETTINGS ─ HEADERS ─ DATA… ─ HEADERS (trailers: grpc-status) ─→ done()
//            or HEADERS alone with grpc-status ("trailers only"), or RST_STREAM, or GOAWAY
//
// nghttp2 keeps HTTP/2's rules: the order of frames, HPACK, flow control, what fields may look like. It
// answers PING and SETTINGS by itself. The server is not trusted, so this is bounded for each call:
// - frames, of any type. A flood of PING, SETTINGS, empty DATA or CONTINUATION ends with the connection, and
//   each of them can make us hold no more than its acknowledgement;
// - the bytes of headers and trailers, as HPACK counts them: an entry of its table costs a byte on the wire
//   and up to 4 KiB here, each time;
// - the bytes of the message, refused as soon as its length is announced or exceeded;
// - the bytes in all, frames of unknown types included.
// The caller watches the time: every wait of the shell has the call's deadline.
//
// If a server ends the connection before it took the call (GOAWAY with a lower number, REFUSED_STREAM, a kept
// connection that was just closed), it has done nothing: unseen() is true. Any other fault is an outcome of
// the call.

#include "common/grpc/connection.hpp"

#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <nghttp2/nghttp2.h>
#include <optional>
#include <utility>

namespace binnacle::grpc {
namespace {

constexpr std::size_t prefix_size = 5;                    // before a message: compression flag and length
constexpr std::size_t overhead = std::size_t{128} << 10;  // bytes of a call other than its message
constexpr std::size_t field_overhead = 32;                // RFC 7541 4.1
constexpr std::size_t most_said = 4096;                   // bytes kept of a server's error text
constexpr char tls_alert = 0x15;

using session_ptr = std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)>;
using callbacks_ptr = std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)>;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::uint32_t length_in(std::string_view prefix) {
  std::uint32_t out = 0;
  for (std::size_t i = 1; i < prefix_size; ++i) out = out << 8U | static_cast<std::uint8_t>(prefix[i]);
  return out;
}

std::string framed(std::string_view message) {
  std::string out(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(message.size() >> shift & 0xff);
  return out += message;
}

/// At most eight digits. Source: grpc/doc/PROTOCOL-HTTP2.md, "Timeout".
std::string timeout_text(std::chrono::milliseconds left) {
  return fmt::format("{}m", std::clamp<std::int64_t>(left.count(), 1, 99'999'999));
}

}  // namespace

struct connection::impl {
  explicit impl(settings s);
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  static impl& self(void* user) { return *static_cast<impl*>(user); }

  void begin(const call& what);
  void feed(std::string_view bytes);
  void drain();
  void fail(error why);
  void break_off(error why);
  void complete();
  answer read_answer();
  // What nghttp2 reports. field() and data() return false if the connection was broken off.
  bool field(std::string_view name, std::string_view value);
  bool data(std::string_view piece);
  void received(const nghttp2_frame& frame);
  void closed(std::uint32_t code);
  ssize_t give(std::uint8_t* to, std::size_t room, std::uint32_t& flags);

  const settings its;
  session_ptr session{nullptr, &nghttp2_session_del};
  std::string outbox;
  bool greeted = false;         // the server has said something
  bool leaving = false;         // it takes no more calls
  std::optional<error> broken;  // the connection is of no use any more
  std::string wrong;            // what nghttp2 found wrong last

  // The call that is under way.
  std::int32_t stream = 0;
  bool running = false;
  bool stream_open = false;
  bool heard = false;  // a part of the call's answer has come
  bool reset = false;  // the server reset the stream
  bool unseen = false;
  std::string request;
  std::size_t given = 0;  // bytes of `request` that were given to nghttp2
  unsigned http_status = 0;
  std::optional<grpc::status> status;
  std::string said, type;
  std::string body;
  std::size_t frames = 0, headers = 0, bytes = 0;
  std::optional<result<answer>> outcome;
};

connection::impl::impl(settings s) : its(std::move(s)) {
  nghttp2_session_callbacks* raw = nullptr;
  if (nghttp2_session_callbacks_new(&raw) != 0) throw std::bad_alloc();
  const callbacks_ptr callbacks(raw, &nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_begin_frame_callback(
      raw, [](nghttp2_session*, const nghttp2_frame_hd*, void* user) -> int {
        impl& me = self(user);
        if (++me.frames <= me.its.most.frames) return 0;
        me.break_off(
            {errc::overloaded, fmt::format("more than {} frames came for one answer", me.its.most.frames)});
        return NGHTTP2_ERR_CALLBACK_FAILURE;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      raw,
      [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
         const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) -> int {
        impl& me = self(user);
        if (frame->hd.stream_id != me.stream) return 0;
        const bool good = me.field(text_of(name, name_size), text_of(value, value_size));
        return good ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      raw,
      [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* piece, std::size_t size,
         void* user) -> int {
        impl& me = self(user);
        if (id != me.stream || me.data(text_of(piece, size))) return 0;
        return NGHTTP2_ERR_CALLBACK_FAILURE;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      raw, [](nghttp2_session*, const nghttp2_frame* frame, void* user) -> int {
        self(user).received(*frame);
        return 0;
      });
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(
      raw, [](nghttp2_session*, const nghttp2_frame*, int code, void* user) -> int {
        self(user).wrong = nghttp2_strerror(code);
        return 0;
      });
  nghttp2_session_callbacks_set_error_callback2(
      raw, [](nghttp2_session*, int, const char* text, std::size_t size, void* user) -> int {
        self(user).wrong.assign(text, size);
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      raw, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) -> int {
        if (id == self(user).stream) self(user).closed(code);
        return 0;
      });
  nghttp2_session* made = nullptr;
  if (nghttp2_session_client_new(&made, raw, this) != 0) throw std::bad_alloc();
  session.reset(made);
  const std::array<nghttp2_settings_entry, 2> ours{
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(its.most.headers)}}};
  if (nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, ours.data(), ours.size()) != 0) throw std::bad_alloc();
}

void connection::impl::begin(const call& what) {
  running = stream_open = true;
  heard = reset = unseen = false;
  request = framed(what.message);
  given = 0;
  http_status = 0;
  status.reset();
  said.clear();
  type.clear();
  body.clear();
  frames = headers = bytes = 0;
  outcome.reset();

  const std::string timeout = timeout_text(what.timeout);
  const std::array<std::pair<std::string_view, std::string_view>, 9> fields{
      {{":method", "POST"},
       {":scheme", its.secure ? "https" : "http"},
       {":path", what.method},
       {":authority", its.authority},
       {"te", "trailers"},
       {"grpc-timeout", timeout},
       {"content-type", "application/grpc"},
       {"user-agent", its.user_agent},
       {"authorization", what.authorization}}};
  std::array<nghttp2_nv, fields.size()> list{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto bytes_of = [](std::string_view s) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(s.data()));  // only read
    };
    list[i] = {bytes_of(fields[i].first), bytes_of(fields[i].second), fields[i].first.size(),
               fields[i].second.size(), NGHTTP2_NV_FLAG_NONE};
  }
  // nghttp2 never puts the authorization into a table of HPACK, as RFC 7541 7.1.3 advises.
  const std::size_t used = list.size() - (what.authorization.empty() ? 1 : 0);
  nghttp2_data_provider from{};
  from.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t room,
                          std::uint32_t* flags, nghttp2_data_source*,
                          void* user) -> ssize_t { return self(user).give(to, room, *flags); };
  stream = nghttp2_submit_request(session.get(), nullptr, list.data(), used, &from, nullptr);
  if (stream < 0) return break_off({errc::disconnected, "the connection takes no more calls"});
  drain();
}

ssize_t connection::impl::give(std::uint8_t* to, std::size_t room, std::uint32_t& flags) {
  const std::size_t size = std::min(room, request.size() - given);
  std::copy_n(request.data() + given, size, to);
  given += size;
  if (given == request.size()) flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

void connection::impl::drain() {
  while (!broken) {
    const std::uint8_t* piece = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session.get(), &piece);
    if (size == 0) return;
    if (size < 0) return break_off({errc::protocol, nghttp2_strerror(static_cast<int>(size))});
    outbox += text_of(piece, static_cast<std::size_t>(size));
  }
}

void connection::impl::fail(error why) {
  if (running && !outcome) outcome.emplace(std::move(why));
}

void connection::impl::break_off(error why) {
  if (broken) return;
  broken = why;
  fail(std::move(why));
}

void connection::impl::feed(std::string_view arrived) {
  if (broken || arrived.empty()) return;
  const bool first = !std::exchange(greeted, true);
  if (first && arrived.starts_with("HTTP/"))
    return break_off(
        {errc::protocol,
         "it answers in HTTP/1, and gRPC needs HTTP/2: perhaps this is the port of its REST API"});
  // A TLS alert: no frame of HTTP/2 begins with this byte, because the frame would be too long.
  if (first && arrived.front() == tls_alert)
    return break_off({errc::protocol, "it answers with an alert of TLS: perhaps it is to be asked by grpcs"});
  bytes += arrived.size();
  const ssize_t taken = nghttp2_session_mem_recv(
      session.get(), reinterpret_cast<const std::uint8_t*>(arrived.data()), arrived.size());
  if (broken) return;
  const auto breaks_rules = [this](std::string_view why) {
    break_off({errc::protocol, fmt::format("it does not keep to HTTP/2: {}", why)});
  };
  if (taken < 0) return breaks_rules(wrong.empty() ? nghttp2_strerror(static_cast<int>(taken)) : wrong);
  drain();
  if (nghttp2_session_want_read(session.get()) == 0)
    breaks_rules(wrong.empty() ? "the connection was given up" : std::string_view(wrong));
  if (running && !outcome && bytes > its.most.message + overhead)
    break_off({errc::overloaded, "too much came that is no answer"});
}

bool connection::impl::field(std::string_view name, std::string_view value) {
  heard = true;
  headers += name.size() + value.size() + field_overhead;
  if (headers > its.most.headers) {
    break_off({errc::overloaded, fmt::format("its headers are larger than {} bytes", its.most.headers)});
    return false;
  }
  if (name == ":status") {
    // nghttp2 has checked that there are three digits. After a status of 1xx comes another status.
    http_status = 0;
    for (const char c : value) http_status = http_status * 10 + static_cast<unsigned>(c - '0');
    status.reset();
    type.clear();
    said.clear();
  } else if (name == "content-type") {
    type = value;
  } else if (name == "grpc-status") {
    status = read_status(value);
  } else if (name == "grpc-message") {
    said = read_message(value.substr(0, most_said));
  }
  return true;
}

bool connection::impl::data(std::string_view piece) {
  if (http_status != 200) return true;  // a page of a proxy
  body += piece;
  const std::size_t most = its.most.message;
  if (body.size() <= most + prefix_size && (body.size() < prefix_size || length_in(body) <= most))
    return true;
  break_off({errc::overloaded, fmt::format("its answer is larger than {} bytes", most)});
  return false;
}

void connection::impl::received(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY) {
    leaving = true;
    if (frame.goaway.error_code != NGHTTP2_NO_ERROR)
      wrong = fmt::format("it ended the connection ({})", nghttp2_http2_strerror(frame.goaway.error_code));
    return;
  }
  if (frame.hd.stream_id != stream || !running) return;
  if (frame.hd.type == NGHTTP2_RST_STREAM) reset = true;
  const bool carries = frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA;
  if (carries && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 && !outcome) complete();
}

void connection::impl::closed(std::uint32_t code) {
  stream_open = false;
  if (outcome) return;
  unseen = code == NGHTTP2_REFUSED_STREAM && !heard;
  if (!reset && !unseen)
    return fail({errc::protocol, fmt::format("its answer is none of HTTP/2: {}",
                                             wrong.empty() ? nghttp2_http2_strerror(code) : wrong)});
  answer out;
  out.status = status_of_reset(code);
  out.said = leaving ? "it takes no more calls on this connection"
                     : fmt::format("it reset the call ({})", nghttp2_http2_strerror(code));
  outcome.emplace(std::move(out));
}

void connection::impl::complete() {
  if (!status && http_status == 200 && !type.starts_with("application/grpc"))
    return fail({errc::protocol, fmt::format("it answers with {}, which is no gRPC",
                                             type.empty() ? "no content type" : in_quotes(type))});
  outcome.emplace(read_answer());
}

answer connection::impl::read_answer() {
  answer out;
  const auto refused = [&out](grpc::status s, std::string why) {
    out.status = s;
    out.said = std::move(why);
    return std::move(out);
  };
  if (!status)
    return http_status == 200 ? refused(status::unknown, "the answer ends without a status")
                              : refused(status_of_http(http_status), fmt::format("HTTP {}", http_status));
  out.status = *status;
  out.said = said;
  if (out.status != status::ok) return out;
  if (body.size() < prefix_size) return refused(status::internal, "the answer has no message");
  if (body.front() != 0) return refused(status::internal, "the answer is compressed, though nobody asked");
  if (body.size() != prefix_size + length_in(body))
    return refused(status::internal, "the answer is not one whole message");
  out.message = body.substr(prefix_size);
  return out;
}

connection::connection(settings s) : impl_(std::make_unique<impl>(std::move(s))) {}
connection::~connection() = default;
connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&&) noexcept = default;

bool connection::usable() const noexcept {
  const impl& i = *impl_;
  // If the answer came before the server had taken the whole question, the stream is still half open.
  return !i.running && !i.stream_open && !i.broken && !i.leaving &&
         nghttp2_session_check_request_allowed(i.session.get()) != 0;
}
void connection::begin(const call& what) { impl_->begin(what); }
std::string& connection::outbox() noexcept { return impl_->outbox; }
void connection::feed(std::string_view bytes) { impl_->feed(bytes); }

void connection::end() {
  impl& i = *impl_;
  if (i.running && !i.outcome) i.unseen = !i.heard;
  i.break_off({errc::disconnected, i.wrong.empty() ? "it ended the connection without an answer" : i.wrong});
}

bool connection::done() const noexcept { return impl_->outcome.has_value(); }

result<answer> connection::take() {
  impl_->running = false;
  return std::move(*std::exchange(impl_->outcome, std::nullopt));
}

bool connection::unseen() const noexcept { return impl_->unseen; }

}  // namespace binnacle::grpc
