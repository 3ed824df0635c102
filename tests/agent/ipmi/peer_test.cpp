#include "agent/ipmi/peer.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace std::chrono_literals;

namespace {

// The agent's end of the connection, blocking.
class agent_end {
 public:
  explicit agent_end(int fd) : fd_(fd) {}
  explicit agent_end(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    connected = ::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  ~agent_end() { close(); }
  agent_end(const agent_end&) = delete;
  agent_end& operator=(const agent_end&) = delete;
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void say(const std::string& text) {
    REQUIRE(::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  std::string hear() {
    std::array<char, 4096> piece;
    const auto n = ::read(fd_, piece.data(), piece.size());
    return n <= 0 ? std::string() : std::string(piece.data(), static_cast<std::size_t>(n));
  }
  bool connected = true;

 private:
  int fd_;
};

instant soon() { return boot_clock::now() + 2s; }

}  // namespace

TEST_SUITE_BEGIN("agent/ipmi/peer");

TEST_CASE("over two descriptors: what is said arrives, and the end of input is the end") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  agent_end agent(ends[0]);
  const auto p = peer::over(ends[1], ends[1]);
  CHECK(p->arrived());
  CHECK_FALSE(p->arrived());
  agent.say(encode(from_agent(ping{1})) + encode(from_agent(ping{2})));
  p->wait(soon());
  CHECK(std::get<ping>(p->next().value()).number == 1);
  CHECK(std::get<ping>(p->next().value()).number == 2);
  CHECK_FALSE(p->next());
  p->send(pong{2});
  CHECK(agent.hear() == encode(from_helper(pong{2})));
  SUBCASE("the agent goes") {
    agent.close();
    p->wait(soon());
    CHECK(p->gone());
    CHECK(p->ended_because().empty());
  }
  SUBCASE("the agent talks nonsense") {
    agent.say("{\"type\":\"ping\"}\n");
    p->wait(soon());
    CHECK_FALSE(p->next());
    CHECK(p->gone());
    CHECK(p->ended_because() == "message \"ping\": field \"number\" is missing");
  }
  SUBCASE("nothing comes: the wait ends in time") {
    const auto before = boot_clock::now();
    p->wait(before + 20ms);
    CHECK(boot_clock::now() - before >= 20ms);
    CHECK(boot_clock::now() - before < 1s);
  }
  p->send(pong{3});  // there is no agent, so nothing happens
}

TEST_CASE("messages that may wait are sent with an urgent one, or before a longer wait, in order") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  agent_end agent(ends[0]);
  const auto p = peer::over(ends[1], ends[1]);
  const auto line = [](std::uint64_t n) { return encode(from_helper(pong{n})); };
  p->send_soon(pong{1});
  p->send_soon(pong{2});
  p->wait(instant{});  // a wait of no length does not force out what is kept back
  SUBCASE("with an urgent message") {
    p->send(pong{3});
    CHECK(agent.hear() == line(1) + line(2) + line(3));
  }
  SUBCASE("before a wait") {
    agent.say("\n");  // so that the wait is short
    p->wait(soon());
    CHECK(agent.hear() == line(1) + line(2));
  }
}

TEST_CASE("at a socket: one agent at a time, one after the other, closed to others") {
  support::temp_folder folder;
  const auto path = folder / "ipmi.sock";
  auto p = peer::listen(path, 0600).value();
  struct ::stat about {};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777u) == 0600);
  CHECK_FALSE(p->gone());
  {
    agent_end first(path);
    p->wait(soon());
    CHECK(p->arrived());
    CHECK(p->connected());
    agent_end second(path);
    p->wait(soon());
    CHECK(second.hear().find("serves one at a time") != std::string::npos);
    CHECK(second.hear().empty());
    first.say("{\"type\":\"pi");
    p->wait(soon());
    CHECK_FALSE(p->next());
  }
  p->wait(soon());
  CHECK_FALSE(p->connected());
  CHECK_FALSE(p->gone());
  // The half line of an agent that left must not become part of the next agent's first line.
  agent_end third(path);
  p->wait(soon());
  CHECK(p->arrived());
  third.say(encode(from_agent(ping{7})));
  p->wait(soon());
  CHECK(std::get<ping>(p->next().value()).number == 7);

  SUBCASE("a second helper at the same place is refused") {
    CHECK(peer::listen(path, 0600).error().message.find("another binnacle-ipmi seems to serve it") !=
          std::string::npos);
    CHECK(agent_end(path).connected);
  }
  SUBCASE("it is gone with its helper") {
    p.reset();
    CHECK(::stat(path.c_str(), &about) != 0);
  }
}

TEST_CASE("a socket that a dead helper left is replaced, anything else is not") {
  support::temp_folder folder;
  const auto path = folder / "ipmi.sock";
  const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  REQUIRE(::bind(dead, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  ::close(dead);
  {
    const auto p = peer::listen(path, 0660);
    REQUIRE(p.has_value());
    CHECK(agent_end(path).connected);
  }
  folder.write("ipmi.sock", "text");
  CHECK(peer::listen(path, 0600).error().message.find("is not a socket") != std::string::npos);
  CHECK(peer::listen(folder / "none/x.sock", 0600).error().message.find("its folder must be there") !=
        std::string::npos);
}

TEST_CASE("a live helper that takes nobody now keeps its socket") {
  support::temp_folder folder;
  const auto path = folder / "ipmi.sock";
  const int live = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  REQUIRE(::bind(live, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::listen(live, 0) == 0);
  std::vector<int> waiting;  // the last of these connections fills its queue
  for (bool room = true; room;) {
    waiting.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    room = ::connect(waiting.back(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  const auto p = peer::listen(path, 0660);
  REQUIRE(p.has_error());
  CHECK(p.error().message.find("another binnacle-ipmi seems to serve it") != std::string::npos);
  CHECK(std::filesystem::exists(path));
  for (const int fd : waiting) ::close(fd);
  ::close(live);
}

TEST_CASE("an agent that takes nothing is hung up on, and does not hold the helper for ever") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  agent_end agent(ends[0]);
  const int small = 4096;
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  const auto p = peer::over(ends[1], ends[1], 100ms);
  const auto before = boot_clock::now();
  for (int i = 0; i < 10'000 && p->connected(); ++i) p->send(pong{1});
  CHECK_FALSE(p->connected());
  CHECK(boot_clock::now() - before >= 100ms);
  CHECK(p->ended_because() == "it takes nothing any more");
}

TEST_SUITE_END();
