#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// HTTP/2 as a server writes it, made by hand, so that tests can send what no honest server sends.
namespace binnacle::grpc::test {

inline std::string bytes_of(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

inline std::string big_endian(std::uint32_t value, int size = 4) {
  std::string out;
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

enum frame_type : std::uint8_t {
  data = 0,
  headers = 1,
  rst_stream = 3,
  settings = 4,
  push_promise = 5,
  ping = 6,
  goaway = 7,
  window_update = 8,
  continuation = 9,
};
constexpr std::uint8_t none = 0, end_stream = 1, ack = 1, end_headers = 4;

inline std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                         std::string_view payload = {}) {
  std::string out = big_endian(static_cast<std::uint32_t>(payload.size()), 3);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  return (out += big_endian(stream)) += payload;
}

using fields = std::vector<std::pair<std::string, std::string>>;

/// A literal of HPACK, neither Huffman-coded nor indexed. Names and values are below 127 bytes, or up to 16
/// kB.
inline std::string literal(std::string_view text) {
  std::string out;
  if (text.size() < 127) {
    out += static_cast<char>(text.size());
  } else {
    out += '\x7f';
    std::size_t rest = text.size() - 127;
    for (; rest >= 128; rest /= 128) out += static_cast<char>(0x80U | (rest & 0x7fU));
    out += static_cast<char>(rest);
  }
  return out += text;
}

inline std::string block(const fields& all) {
  std::string out;
  for (const auto& [name, value] : all) (out += '\0') += literal(name) + literal(value);
  return out;
}

/// What every server sends at the beginning of a connection.
inline std::string greeting() { return frame(settings, none, 0) + frame(settings, ack, 0); }

inline std::string message(std::string_view text, char flag = 0) {
  return (std::string(1, flag) += big_endian(static_cast<std::uint32_t>(text.size()))) += text;
}

inline const fields good_head{{":status", "200"}, {"content-type", "application/grpc"}};

inline std::string head(std::uint32_t stream = 1, const fields& f = good_head) {
  return frame(headers, end_headers, stream, block(f));
}
inline std::string trailers(std::uint32_t stream = 1, const fields& f = {{"grpc-status", "0"}}) {
  return frame(headers, end_headers | end_stream, stream, block(f));
}
/// A complete answer.
inline std::string says(std::string_view text, std::uint32_t stream = 1) {
  return head(stream) + frame(data, none, stream, message(text)) + trailers(stream);
}

}  // namespace binnacle::grpc::test
