#include "common/text/json_writer.hpp"

#include "common/text/utf8.hpp"

namespace binnacle {
namespace {

void append_escaped(std::string& out, char c) {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default:
      out += "\\u00";
      out += hex[static_cast<unsigned char>(c) >> 4];
      out += hex[static_cast<unsigned char>(c) & 0xf];
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t clean = 0;  // text[clean, i) needs no escaping
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = c < 0x80 ? 1 : utf8_length(text.substr(i));
    if (length != 0 && c >= 0x20 && c != '"' && c != '\\') {
      i += length;
      continue;
    }
    out.append(text, clean, i - clean);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      append_escaped(out, text[i]);
    }
    clean = ++i;
  }
  out.append(text, clean);
  out += '"';
}

std::string pretty_json(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() * 2);
  std::size_t depth = 0;
  const auto new_line = [&] {
    out += '\n';
    out.append(depth * 2, ' ');
  };
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    switch (c) {
      case '"': {
        std::size_t end = i + 1;
        while (end < compact.size() && compact[end] != '"') end += compact[end] == '\\' ? 2 : 1;
        out.append(compact, i, end + 1 - i);
        i = end;
        break;
      }
      case '{':
      case '[':
        out += c;
        if (i + 1 < compact.size() && (compact[i + 1] == '}' || compact[i + 1] == ']')) {
          out += compact[++i];
        } else {
          ++depth;
          new_line();
        }
        break;
      case '}':
      case ']':
        if (depth > 0) --depth;
        new_line();
        out += c;
        break;
      case ',':
        out += c;
        new_line();
        break;
      case ':': out += ": "; break;
      default: out += c;
    }
  }
  return out;
}

void json_writer::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if ((filled_ & 1) != 0) out_ += ',';
  filled_ |= 1;
}

json_writer& json_writer::open(char bracket) {
  separate();
  out_ += bracket;
  filled_ <<= 1;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  out_ += bracket;
  filled_ >>= 1;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

json_writer& json_writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace binnacle
