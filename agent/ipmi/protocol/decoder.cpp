#include "agent/ipmi/protocol/protocol.hpp"
#include "common/text/utf8.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace binnacle::ipmi {
namespace {

namespace json = boost::json;

error broken(std::string message) { return {errc::protocol, std::move(message)}; }

bool valid_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= max_key && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

// Reads the fields of one message. Keeps the first error; what is read after an error is not used.
class fields {
 public:
  fields(std::string_view type, const json::object& from) : type_(type), from_(from) {}

  std::string text(std::string_view name, std::size_t limit = max_text) {
    const auto* v = need(name);
    return v == nullptr ? std::string() : text_of(name, *v, limit);
  }
  std::string key() {
    auto key = text("key", max_key);
    if (ok() && !valid_key(key)) fail("key", "is none");
    return key;
  }
  bool flag(std::string_view name) {
    const auto* v = need(name);
    const bool* b = v == nullptr ? nullptr : v->if_bool();
    if (v != nullptr && b == nullptr) fail(name, "is neither true nor false");
    return b != nullptr && *b;
  }
  template <class Integer>
  Integer integer(std::string_view name) {
    const auto* v = need(name);
    return v == nullptr ? Integer{} : integer_of<Integer>(name, *v);
  }
  std::optional<double> number(std::string_view name) {
    const auto* v = from_.if_contains(name);
    if (v == nullptr) return std::nullopt;
    std::optional<double> d;
    if (v->is_double()) d = v->get_double();
    if (v->is_int64()) d = static_cast<double>(v->get_int64());
    if (v->is_uint64()) d = static_cast<double>(v->get_uint64());
    if (!d || !is_number(*d)) {
      fail(name, "is not a number");
      return std::nullopt;
    }
    return d;
  }
  std::vector<std::string> texts(std::string_view name, std::size_t most) {
    std::vector<std::string> all;
    for (const auto& v : list(name, most)) all.push_back(text_of(name, v, max_pattern));
    return all;
  }
  std::map<std::string, std::uint32_t> periods(std::string_view name) {
    std::map<std::string, std::uint32_t> by_key;
    const auto* v = need(name);
    const auto* o = v == nullptr ? nullptr : v->if_object();
    if (o == nullptr) {
      fail(name, "is not an object");
    } else if (o->size() > max_sensors) {
      fail(name, "has too many elements");
    } else {
      for (const auto& m : *o) {
        if (!valid_key(m.key())) fail(name, "names something that is not a key");
        by_key.emplace(m.key(), integer_of<std::uint32_t>(name, m.value()));
      }
    }
    return by_key;
  }
  const json::array& list(std::string_view name, std::size_t most) {
    static const json::array empty;
    const auto* v = need(name);
    const auto* a = v == nullptr ? nullptr : v->if_array();
    if (a == nullptr) {
      fail(name, "is not a list");
      return empty;
    }
    if (a->size() > most) {
      fail(name, "has too many elements");
      return empty;
    }
    return *a;
  }

  void fail(std::string_view name, std::string_view how) {
    if (wrong_.empty()) wrong_ = fmt::format("message \"{}\": field \"{}\" {}", type_, name, how);
  }
  bool ok() const noexcept { return wrong_.empty(); }

  /// Returns `message`, or the error if one of its fields was wrong.
  template <class Any, class Message>
  result<Any> end(Message message) {
    if (!ok()) return broken(std::move(wrong_));
    return {boost::system::in_place_value, std::move(message)};
  }

 private:
  const json::value* need(std::string_view name) {
    const auto* v = from_.if_contains(name);
    if (v == nullptr) fail(name, "is missing");
    return v;
  }
  std::string text_of(std::string_view name, const json::value& v, std::size_t limit) {
    const auto* s = v.if_string();
    if (s == nullptr) {
      fail(name, "is not text");
      return {};
    }
    if (s->size() > limit) {
      fail(name, "is too long");
      return {};
    }
    return std::string(*s);
  }
  template <class Integer>
  Integer integer_of(std::string_view name, const json::value& v) {
    boost::system::error_code bad;
    const auto n = v.is_number() ? v.to_number<Integer>(bad) : Integer{};
    if (!v.is_number() || bad) fail(name, "is not a number in its range");
    return n;
  }

  std::string_view type_;
  const json::object& from_;
  std::string wrong_;
};

hello read_hello(fields& f) {
  return {f.integer<int>("protocol"), f.text("version"), f.integer<std::uint32_t>("quiet_ms")};
}

bmc read_bmc(fields& f) {
  bmc m;
  m.address = f.text("address");
  m.guid = f.text("guid");
  m.manufacturer = f.text("manufacturer");
  m.manufacturer_id = f.integer<std::uint32_t>("manufacturer_id");
  m.product_id = f.integer<std::uint32_t>("product_id");
  m.firmware = f.text("firmware");
  m.ipmi_version = f.text("ipmi_version");
  m.sdr_records = f.integer<std::uint32_t>("sdr_records");
  m.dcmi = f.flag("dcmi");
  return m;
}

sensor read_sensor(fields& f) {
  sensor m;
  m.key = f.key();
  m.name = f.text("name");
  m.entity = f.text("entity");
  m.entity_id = f.integer<std::uint32_t>("entity_id");
  m.instance = f.integer<std::uint32_t>("instance");
  m.number = f.integer<std::uint32_t>("number");
  m.record = f.integer<std::uint32_t>("record");
  m.kind = sensor_kind_of(f.text("kind"));
  m.unit = f.text("unit");
  m.role = sensor_role_of(f.text("role"));
  m.origin = sensor_origin_of(f.text("origin"));
  m.limits.lower_non_recoverable = f.number("lower_non_recoverable");
  m.limits.lower_critical = f.number("lower_critical");
  m.limits.lower_non_critical = f.number("lower_non_critical");
  m.limits.upper_non_critical = f.number("upper_non_critical");
  m.limits.upper_critical = f.number("upper_critical");
  m.limits.upper_non_recoverable = f.number("upper_non_recoverable");
  return m;
}

reading read_reading(fields& f, const json::object& from) {
  reading m;
  m.key = f.key();
  m.value = f.number("value");
  if (from.contains("state")) {
    m.state = f.integer<std::uint32_t>("state");
    m.words = f.texts("words", max_words);
  }
  if (from.contains("reason")) m.reason = absence_of(f.text("reason"));
  m.read_at_ns = f.integer<std::int64_t>("read_at_ns");
  if (m.read_at_ns < 0) f.fail("read_at_ns", "is before this machine's start");
  m.took_us = f.integer<std::uint32_t>("took_us");
  if (from.contains("window_ms")) {
    const auto minimum = f.number("minimum"), average = f.number("average"), maximum = f.number("maximum");
    const auto window_ms = f.integer<std::uint32_t>("window_ms");
    if (!minimum || !average || !maximum || window_ms == 0) {
      f.fail("window_ms", "is there without minimum, average and maximum, or is 0");
    } else {
      m.over = statistics{*minimum, *average, *maximum, window_ms};
    }
  }
  if ((m.reason == absence::none) != (m.value || m.state)) {
    f.fail("reason", "is needed exactly where there is neither value nor state");
  }
  return m;
}

stats read_stats(fields& f) {
  stats m;
  m.requests = f.integer<std::uint64_t>("requests");
  m.failures = f.integer<std::uint64_t>("failures");
  m.timeouts = f.integer<std::uint64_t>("timeouts");
  m.sessions = f.integer<std::uint64_t>("sessions");
  m.sdr_rebuilds = f.integer<std::uint64_t>("sdr_rebuilds");
  m.busy_ratio = f.number("busy_ratio").value_or(0);
  return m;
}

wanted_sensors read_select(fields& f) {
  wanted_sensors m;
  m.defaults = f.flag("defaults");
  m.include = f.texts("include", max_patterns);
  m.exclude = f.texts("exclude", max_patterns);
  for (const auto& v : f.list("roles", max_patterns)) {
    const auto* o = v.if_object();
    if (o == nullptr) {
      f.fail("roles", "has an element that is not an object");
      break;
    }
    fields rule("role", *o);
    m.roles.push_back({rule.text("pattern", max_pattern), sensor_role_of(rule.text("role"))});
    if (!rule.ok()) f.fail("roles", "has an element without pattern and role");
  }
  m.period_ms = f.integer<std::uint32_t>("period_ms");
  m.budget_ratio = f.number("budget_ratio").value_or(wanted_sensors{}.budget_ratio);
  if (m.budget_ratio <= 0 || m.budget_ratio > 1) f.fail("budget_ratio", "is not within 0 and 1");
  return m;
}

// The part that is the same in both directions: parses the object and its type.
template <class Any, class Read>
result<Any> decode(std::string_view line, Read read) {
  if (line.size() > max_line) return broken(fmt::format("a line of more than {} bytes", max_line));
  boost::system::error_code bad;
  json::parse_options strict;
  strict.max_depth = 4;
  json::monotonic_resource space;
  const auto parsed = json::parse(line, bad, &space, strict);
  if (bad) return broken(fmt::format("a line that is not JSON: {}", bad.message()));
  const auto* from = parsed.if_object();
  const auto* type = from == nullptr ? nullptr : from->if_contains("type");
  if (type == nullptr || !type->is_string()) return broken("a line without a type: expected {\"type\": …}");
  const std::string_view name(type->get_string());
  fields f(clip(name, max_pattern), *from);
  return read(name, f, *from);
}

}  // namespace

result<from_helper> decode_from_helper(std::string_view line) {
  using any = from_helper;
  return decode<any>(line, [](std::string_view type, fields& f, const json::object& from) -> result<any> {
    if (type == "reading") return f.end<any>(read_reading(f, from));
    if (type == "hello") return f.end<any>(read_hello(f));
    if (type == "bmc") return f.end<any>(read_bmc(f));
    if (type == "sensor") return f.end<any>(read_sensor(f));
    if (type == "inventory_end") return f.end<any>(inventory_end{f.integer<std::uint32_t>("count")});
    if (type == "plan") return f.end<any>(plan{f.periods("period_ms")});
    if (type == "status") {
      return f.end<any>(status{f.flag("ok"), f.text("message"), f.flag("permanent")});
    }
    if (type == "stats") return f.end<any>(read_stats(f));
    if (type == "pong") return f.end<any>(pong{f.integer<std::uint64_t>("number")});
    return any(unknown{std::string(clip(type, max_pattern))});
  });
}

result<from_agent> decode_from_agent(std::string_view line) {
  using any = from_agent;
  return decode<any>(line, [](std::string_view type, fields& f, const json::object&) -> result<any> {
    if (type == "ping") return f.end<any>(ping{f.integer<std::uint64_t>("number")});
    if (type == "interest") return f.end<any>(interest{f.periods("period_ms")});
    if (type == "select") return f.end<any>(read_select(f));
    return any(unknown{std::string(clip(type, max_pattern))});
  });
}

}  // namespace binnacle::ipmi
