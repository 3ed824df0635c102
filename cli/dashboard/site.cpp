#include "cli/dashboard/site.hpp"

#include "aggregator/policy/comparison.hpp"
#include "cli/dashboard/assets.hpp"
#include "cli/json.hpp"
#include "common/http/live.hpp"
#include "common/metrics/families.hpp"
#include "common/text/json_writer.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace binnacle::cli::dashboard {
namespace {

constexpr std::size_t most_body = 4096;
constexpr std::size_t most_name = 253;

/// What a page asks to be kept informed of.
struct followed {
  std::string stream;  ///< the name that the page gives its stream; empty: none
  std::vector<topic> topics;
  std::vector<std::string> metrics;
};

result<followed> followed_of(const http::request& r) {
  followed by;
  for (const auto& [name, value] : r.query) {
    const bool is_name = !value.empty() && value.size() <= most_name;
    if (name == "topic") {
      auto t = parse_topic(value);
      if (t.has_error()) return t.error();
      by.topics.push_back(std::move(*t));
    } else if (name == "metric" && is_name) {
      by.metrics.push_back(value);
    } else if (name == "stream" && is_name) {
      by.stream = value;
    } else {
      return error{errc::invalid_input, "a page asks for stream=NAME, topic=TOPIC and metric=NAME only"};
    }
  }
  if (by.topics.empty()) return error{errc::invalid_input, "the parameter topic is missing"};
  return by;
}

http::response page_json(std::string text) { return secured(http::response::json(std::move(text))); }

class page_events;
/// The streams that are open, by the names that their pages gave them.
using streams = std::map<std::string, page_events*, std::less<>>;

/// The stream of events to one page.
class page_events final : public http::live_exchange {
 public:
  page_events(feed& what, std::shared_ptr<streams> all, followed by)
      : feed_(what), all_(std::move(all)), followed_(std::move(by)) {}
  ~page_events() override {
    const auto at = all_->find(followed_.stream);
    if (at != all_->end() && at->second == this) all_->erase(at);
  }

  void finish(http::reply answer) override {
    auto following = feed_.follow(followed_.topics, followed_.metrics, [this] { wake(); });
    if (following.has_error()) return answer(refused(429, following.error().message));
    following_ = std::move(*following);
    if (!followed_.stream.empty()) (*all_)[followed_.stream] = this;
    answer(secured({200, "text/event-stream", {}, {}, true}));
  }
  /// Errors: as of feed::follow().
  result<void> change(const followed& by) {
    const auto fits = following_->change(by.topics, by.metrics);
    wake();
    return fits;
  }
  void wake_with(std::function<void()> wake) override { wake_ = std::move(wake); }
  std::string next() override {
    std::string events = following_->next();
    const auto now = std::chrono::steady_clock::now();
    // Tells the page, and whatever relays the stream, that both ends are still there.
    if (events.empty() && now - said_ >= std::chrono::seconds(10)) events = ": still here\n\n";
    if (!events.empty()) said_ = now;
    return events;
  }

 private:
  void wake() {
    if (wake_) wake_();
  }

  feed& feed_;
  const std::shared_ptr<streams> all_;
  const followed followed_;
  std::function<void()> wake_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  std::unique_ptr<feed::follower> following_;
};

/// An exchange whose answer is known at once.
class told_at_once final : public http::exchange {
 public:
  explicit told_at_once(http::response answer) : answer_(std::move(answer)) {}
  bool consume(std::string_view) override { return true; }
  void finish(http::reply answer) override { answer(std::move(answer_)); }

 private:
  http::response answer_;
};

std::unique_ptr<http::exchange> say(http::response answer) {
  return std::make_unique<told_at_once>(std::move(answer));
}

std::unique_ptr<http::exchange> live(const door& who, feed& what, std::shared_ptr<streams> all,
                                     const http::request& r) {
  if (auto no = who.refusal(r, false)) return say(std::move(*no));
  auto by = followed_of(r);
  if (by.has_error()) return say(refused(400, by.error().message));
  return std::make_unique<page_events>(what, std::move(all), std::move(*by));
}

/// What is new for a page without a stream: the windows of one browser share its few connections to this
/// server, so only some of them have streams.
http::response changes(const door& who, feed& what, const http::request& r) {
  if (auto no = who.refusal(r, false)) return std::move(*no);
  const auto by = followed_of(r);
  if (by.has_error()) return refused(400, by.error().message);
  if (by->stream.empty()) return refused(400, "the parameter stream is missing: the page's own name");
  auto events = what.changes(by->stream, by->topics, by->metrics);
  if (events.has_error()) return refused(429, events.error().message);
  return secured({200, "text/event-stream", {std::move(*events)}, {}, true});
}

/// Lets a page follow other topics over the stream that it has. It opens no second stream: browsers make at
/// most six connections to one server, for all windows together.
http::response change(const door& who, const streams& all, const http::request& r) {
  if (auto no = who.refusal(r, false)) return std::move(*no);
  const auto by = followed_of(r);
  if (by.has_error()) return refused(400, by.error().message);
  const auto at = all.find(by->stream);
  if (at == all.end()) return refused(404, "no stream of this name is open: GET /live opens one");
  if (const auto fits = at->second->change(*by); fits.has_error()) return refused(429, fits.error().message);
  return page_json("{}");
}

/// Answers a question about the past from the user's database.
class page_history final : public http::exchange {
 public:
  page_history(history::database& past, history::question what) : past_(past), question_(std::move(what)) {}
  bool consume(std::string_view) override { return true; }
  void finish(http::reply answer) override {
    past_.ask(std::move(question_), [answer = std::move(answer)](result<std::string> told) {
      if (told.has_value()) return answer(page_json(std::move(*told)));
      const bool too_many = told.error().code == errc::overloaded;
      answer(refused(too_many ? 429 : 502, told.error().message));
    });
  }

 private:
  history::database& past_;
  history::question question_;
};

std::unique_ptr<http::exchange> past_of(const door& who, history::database* past, const http::request& r) {
  if (auto no = who.refusal(r, false)) return say(std::move(*no));
  if (past == nullptr)
    return say(refused(404,
                       "no history is set: start `binnacle dashboard --history URL` with the address of "
                       "your time-series database"));
  auto what = history::parse_question(r.query);
  if (what.has_error()) return say(refused(400, what.error().message));
  return std::make_unique<page_history>(*past, std::move(*what));
}

/// Trades {"link":"…"} for a key.
http::response open(door& who, std::string_view body) {
  boost::system::error_code ec;
  const json::value said = json::parse(json::string_view(body.data(), body.size()), ec);
  const auto key = ec ? std::nullopt : who.open(text(said, "link"), boot_clock::now());
  if (!key) {
    return refused(401,
                   "this link was used before, or is too old: each opens one page, within ten minutes. "
                   "`binnacle dashboard` prints another one when it is started again, and a page that is "
                   "open makes them");
  }
  return page_json(to_text(json::object{{"key", *key}}));
}

/// The names and meanings of the metrics that our agents may have, and the spans of history that a page may
/// ask for.
std::string families(bool has_history) {
  std::string text;
  json_writer out(text);
  out.begin_object().key("metrics").begin_array();
  for (const metrics::family& f : metrics::families()) {
    if (f.name.starts_with("binnacle_")) continue;
    out.begin_object().field("name", f.name).field("help", f.help).end_object();
  }
  out.end_array().key("spans").begin_array();
  if (has_history) {
    for (const history::reach& r : history::reaches()) out.value(r.name);
  }
  out.end_array().end_object();
  return text;
}

/// A module for the page. It says of each operator of policies whether a value below, at and above the target
/// meets it.
std::string operators() {
  std::string text = "export const OPERATORS = ";
  json_writer out(text);
  out.begin_object();
  for (const policy::comparison c : policy::comparisons) {
    out.key(to_string(c)).begin_object();
    out.field("below", meets(c, std::strong_ordering::less));
    out.field("at", meets(c, std::strong_ordering::equal));
    out.field("above", meets(c, std::strong_ordering::greater)).end_object();
  }
  out.end_object();
  return text + ";\n";
}

}  // namespace

http::router routes(door& who, feed& what, history::database* past) {
  http::router r;
  const auto open_ones = std::make_shared<streams>();
  const auto add_file = [&r, &who](std::string_view path, std::string_view type, std::string text) {
    r.add("GET", std::string(path),
          [&who, type, text = std::move(text)](const http::request& q, std::string_view) {
            if (auto no = who.refusal(q, true)) return std::move(*no);
            http::response answer;
            answer.content_type = std::string(type);
            answer.body = {text};
            return secured(std::move(answer));
          });
  };
  for (const asset& a : assets()) add_file(a.path, a.content_type, std::string(a.text));
  add_file("/operators.js", "text/javascript; charset=utf-8", operators());
  r.add(
      "POST", "/open",
      [&who](const http::request& q, std::string_view body) {
        if (auto no = who.refusal(q, true)) return std::move(*no);
        return open(who, body);
      },
      most_body);
  r.add(
      "POST", "/link",
      [&who](const http::request& q, std::string_view) {
        if (auto no = who.refusal(q, false)) return std::move(*no);
        const std::string link = who.origin() + "/#link=" + who.new_link(boot_clock::now());
        return page_json(to_text(json::object{{"link", link}}));
      },
      most_body);
  r.add("GET", "/families", [&who, past](const http::request& q, std::string_view) {
    if (auto no = who.refusal(q, false)) return std::move(*no);
    return page_json(families(past != nullptr));
  });
  r.add_streaming(
      "GET", "/live",
      [&who, &what, open_ones](const http::request& q) { return live(who, what, open_ones, q); }, 0);
  r.add("GET", "/changes",
        [&who, &what](const http::request& q, std::string_view) { return changes(who, what, q); });
  r.add("POST", "/live",
        [&who, open_ones](const http::request& q, std::string_view) { return change(who, *open_ones, q); });
  r.add_streaming(
      "GET", "/history", [&who, past](const http::request& q) { return past_of(who, past, q); }, 0);
  r.add_prefix("/", [&who](const http::request& q, std::string_view) {
    if (auto no = who.refusal(q, true)) return std::move(*no);
    return refused(404, "there is nothing at this path: the page is /");
  });
  r.set_failure(refused);
  return r;
}

}  // namespace binnacle::cli::dashboard
