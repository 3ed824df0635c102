// The bytes of a model server that speaks gRPC; any bytes may come. A connection has the same outcome however
// its bytes are split and stays within all limits. A message is watts or an error.
#include "aggregator/model_servers/message.hpp"
#include "common/grpc/connection.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz_grpc_answer {

using namespace binnacle;

namespace {

constexpr std::size_t most_message = 4096;
constexpr std::size_t most_held = 64u << 10;

void require(bool held) {
  if (!held) std::abort();
}

struct outcome {
  bool done = false, failed = false;
  grpc::status status = grpc::status::unknown;
  std::string said, message;
  bool operator==(const outcome&) const = default;
};

/// The outcome of one call. The bytes are carried as the client carries them: nothing is read after the
/// outcome.
outcome hear(std::string_view input, std::size_t step) {
  grpc::connection::settings its;
  its.authority = "h:1";
  its.user_agent = "fuzz";
  its.most.message = most_message;
  grpc::connection it(std::move(its));
  grpc::call what;
  what.method = "/a.B/C";
  what.message = "question";
  it.begin(what);
  it.outbox().clear();
  for (std::size_t at = 0; at < input.size() && !it.done(); at += step) {
    it.feed(input.substr(at, step));
    require(it.outbox().size() <= most_held);
    it.outbox().clear();
  }
  outcome out;
  out.done = it.done();
  if (!out.done) {
    it.end();
    require(it.done());
    require(it.take().has_error());
    require(!it.usable());
    return out;
  }
  auto got = it.take();
  out.failed = got.has_error();
  if (out.failed) {
    require(!got.error().message.empty());
    return out;
  }
  require(got->message.size() <= most_message);
  require(got->status == grpc::status::ok || got->message.empty());
  out.status = got->status;
  out.said = got->said;
  out.message = got->message;
  return out;
}

void read(std::string_view message) {
  const auto described = model_servers::described_in_message(message);
  if (const auto input = model_servers::input_of(described, 3); input.has_error())
    require(!input.error().message.empty() && input.error().message.size() < 500);
  for (const auto speaks : {model_servers::protocol::v2, model_servers::protocol::tf_serving}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, model_servers::points}) {
      const auto answer = model_servers::answer_in_message(speaks, message, count);
      if (answer.has_error()) {
        require(!answer.error().message.empty());
        continue;
      }
      require(answer->watts.size() == count);
      require(answer->version.size() <= model_servers::model_answer::longest_version);
      for (const double one : answer->watts) require(std::isfinite(one));
    }
  }
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) {
    read(input);
    return 0;
  }
  const outcome whole = hear(input, input.size() + 1);
  const outcome split = hear(input, std::size_t{data[0]} % 17 + 1);
  // A failure may differ by how the bytes are split: the first bytes of a peer that does not speak HTTP/2
  // give an error of their own, and a wrong frame may be noticed before it is complete.
  if (whole.done && !whole.failed) {
    require(whole == split);
    read(whole.message);
  } else {
    require(!split.done || split.failed);
  }
  return 0;
}

}  // namespace fuzz_grpc_answer
