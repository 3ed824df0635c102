#include "agent/ipmi/protocol/protocol.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::ipmi {
namespace {

// Fifteen digits: as many as every double keeps, also where the reader is wrong by its last bit. (Boost.JSON
// 1.81 is, for numbers of more digits.) A BMC's readings have ten bits. json_writer takes no doubles, because
// everything else prints decimals of a known resolution. A reading becomes such a decimal only on the agent's
// board. What is nearly nothing is 0, and so is -0, which would be read as an integer.
std::string text_of(double d) { return std::abs(d) < 1 / max_number ? "0" : fmt::format("{:.15g}", d); }

class line {
 public:
  explicit line(std::string_view type) : out_(text_) {
    out_.begin_object();
    out_.field("type", type);
  }

  line& text(std::string_view name, std::string_view value, std::size_t limit = max_text) {
    out_.field(name, clip(value, limit));
    return *this;
  }
  template <class Value>
  line& field(std::string_view name, Value value) {
    out_.field(name, value);
    return *this;
  }
  line& number(std::string_view name, const std::optional<double>& d) {
    if (d && is_number(*d)) out_.key(name).raw(text_of(*d));
    return *this;
  }
  line& texts(std::string_view name, const std::vector<std::string>& all, std::size_t most) {
    out_.key(name).begin_array();
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) out_.value(clip(all[i], max_pattern));
    out_.end_array();
    return *this;
  }
  line& periods(std::string_view name, const std::map<std::string, std::uint32_t>& by_key) {
    out_.key(name).begin_object();
    std::size_t room = max_sensors;
    for (const auto& [key, period_ms] : by_key) {
      if (room-- == 0) break;
      out_.field(clip(key, max_key), period_ms);
    }
    out_.end_object();
    return *this;
  }
  json_writer& json() { return out_; }

  std::string end() {
    out_.end_object();
    text_ += '\n';
    return std::move(text_);
  }

 private:
  std::string text_;
  json_writer out_;
};

std::string encode_one(const hello& m) {
  return line("hello")
      .field("protocol", m.protocol)
      .text("version", m.version)
      .field("quiet_ms", m.quiet_ms)
      .end();
}

std::string encode_one(const bmc& m) {
  line l("bmc");
  l.text("address", m.address).text("guid", m.guid).text("manufacturer", m.manufacturer);
  l.field("manufacturer_id", m.manufacturer_id)
      .field("product_id", m.product_id)
      .text("firmware", m.firmware);
  l.text("ipmi_version", m.ipmi_version).field("sdr_records", m.sdr_records).field("dcmi", m.dcmi);
  return l.end();
}

std::string encode_one(const sensor& m) {
  line l("sensor");
  l.text("key", m.key, max_key).text("name", m.name).text("entity", m.entity);
  l.field("entity_id", m.entity_id).field("instance", m.instance).field("number", m.number);
  l.field("record", m.record).text("kind", to_string(m.kind)).text("unit", m.unit);
  l.text("role", to_string(m.role)).text("origin", to_string(m.origin));
  l.number("lower_non_recoverable", m.limits.lower_non_recoverable);
  l.number("lower_critical", m.limits.lower_critical);
  l.number("lower_non_critical", m.limits.lower_non_critical);
  l.number("upper_non_critical", m.limits.upper_non_critical);
  l.number("upper_critical", m.limits.upper_critical);
  l.number("upper_non_recoverable", m.limits.upper_non_recoverable);
  return l.end();
}

std::string encode_one(const inventory_end& m) { return line("inventory_end").field("count", m.count).end(); }

std::string encode_one(const plan& m) { return line("plan").periods("period_ms", m.period_ms).end(); }

std::string encode_one(const reading& m) {
  line l("reading");
  l.text("key", m.key, max_key);
  const bool no_number = m.value && !is_number(*m.value);
  const auto reason = no_number ? absence::out_of_range : m.reason;
  if (reason != absence::none) {
    l.text("reason", to_string(reason));
  } else {
    l.number("value", m.value);
    if (m.state) l.field("state", *m.state).texts("words", m.words, max_words);
  }
  if (m.over) {
    l.number("minimum", m.over->minimum).number("average", m.over->average);
    l.number("maximum", m.over->maximum).field("window_ms", m.over->window_ms);
  }
  l.field("read_at_ns", m.read_at_ns).field("took_us", m.took_us);
  return l.end();
}

std::string encode_one(const status& m) {
  return line("status").field("ok", m.ok).text("message", m.message).field("permanent", m.permanent).end();
}

std::string encode_one(const stats& m) {
  line l("stats");
  l.field("requests", m.requests).field("failures", m.failures).field("timeouts", m.timeouts);
  l.field("sessions", m.sessions).field("sdr_rebuilds", m.sdr_rebuilds).number("busy_ratio", m.busy_ratio);
  return l.end();
}

std::string encode_one(const pong& m) { return line("pong").field("number", m.number).end(); }

std::string encode_one(const wanted_sensors& m) {
  line l("select");
  l.field("defaults", m.defaults).texts("include", m.include, max_patterns);
  l.texts("exclude", m.exclude, max_patterns);
  l.json().key("roles").begin_array();
  for (std::size_t i = 0; i < std::min(m.roles.size(), max_patterns); ++i) {
    l.json().begin_object().field("pattern", clip(m.roles[i].pattern, max_pattern));
    l.json().field("role", to_string(m.roles[i].role)).end_object();
  }
  l.json().end_array();
  return l.field("period_ms", m.period_ms).number("budget_ratio", m.budget_ratio).end();
}

std::string encode_one(const interest& m) { return line("interest").periods("period_ms", m.period_ms).end(); }

std::string encode_one(const ping& m) { return line("ping").field("number", m.number).end(); }

std::string encode_one(const unknown& m) { return line(m.type).end(); }

}  // namespace

std::string encode(const from_helper& message) {
  return std::visit([](const auto& m) { return encode_one(m); }, message);
}
std::string encode(const from_agent& message) {
  return std::visit([](const auto& m) { return encode_one(m); }, message);
}

}  // namespace binnacle::ipmi
