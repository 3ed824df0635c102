#include "tests/support/bmc/bmc_sim.hpp"

#include "common/clock.hpp"

#include <arpa/inet.h>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace binnacle::support {
namespace {

using std::chrono::milliseconds;

constexpr auto look_every = milliseconds(100);  // how often it reads the files of values: board.emu

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

// A port that is free now. If another program takes it before the simulator does, start() fails.
std::uint16_t free_port(int type) {
  const int fd = ::socket(AF_INET, type, 0);
  auto at = loopback(0);
  socklen_t length = sizeof at;
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&at), length) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length) == 0;
  ::close(fd);
  if (!bound) throw std::runtime_error("no free port on loopback");
  return ntohs(at.sin_port);
}

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto at = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return fd;
  ::close(fd);
  return -1;
}

// Reads what comes from `fd` during this time.
void read_for(int fd, std::string& into, milliseconds span) {
  const auto end = boot_clock::now() + span;
  std::array<char, 4096> piece;
  for (;;) {
    const auto left = (end - boot_clock::now()) / milliseconds(1);
    pollfd one{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) <= 0) return;
    const auto n = ::read(fd, piece.data(), piece.size());
    if (n <= 0) return;
    into.append(piece.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace

bmc_sim::bmc_sim(board_spec board) : own_(std::in_place), folder_(own_->path()), board_(std::move(board)) {
  find_ports_and_start();
}
bmc_sim::bmc_sim(board_spec board, std::string folder)
    : folder_(std::move(folder)), board_(std::move(board)) {
  std::filesystem::create_directories(folder_);
  find_ports_and_start();
}

void bmc_sim::find_ports_and_start() {
  for (int i = 0; i < 3; ++i) {
    ports_ = {free_port(SOCK_DGRAM), free_port(SOCK_STREAM), free_port(SOCK_STREAM)};
    write_board(folder_, board_, ports_);
    try {
      start_once();
      return;
    } catch (const std::runtime_error&) {
      if (i == 2) throw;
    }
  }
}

// Its ports were free for a while, and the connection of another program may have one of them just now.
void bmc_sim::start() {
  for (int i = 0;; ++i) {
    try {
      return start_once();
    } catch (const std::runtime_error&) {
      if (i == 9) throw;
      std::this_thread::sleep_for(milliseconds(500));
    }
  }
}

bmc_sim::~bmc_sim() { kill(); }

void bmc_sim::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ + "/" + name, std::ios::trunc) << text;
}

std::string bmc_sim::address() const { return "127.0.0.1:" + std::to_string(ports_.lan); }

void bmc_sim::start_once() {
  const auto conf = folder_ + "/lan.conf", emu = folder_ + "/board.emu", state = folder_ + "/state";
  const auto log = folder_ + "/ipmi_sim.log";
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_IGN);  // writing to a closed console would end the simulator
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, 1);
    ::dup2(out, 2);
    // The simulator must not inherit the pipes of the test runner and keep them open.
    ::close_range(3, ~0u, 0);
    ::execlp("ipmi_sim", "ipmi_sim", "-n", "-c", conf.c_str(), "-f", emu.c_str(), "-s", state.c_str(),
             nullptr);
    ::_exit(127);
  }
  const auto limit = boot_clock::now() + std::chrono::seconds(5);
  while (boot_clock::now() < limit) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      throw std::runtime_error(WIFEXITED(status) && WEXITSTATUS(status) == 127
                                   ? "ipmi_sim is not there: install openipmi (scripts/bootstrap)"
                                   : "ipmi_sim ended at once, see " + log);
    }
    if (answers()) {
      // The simulator's sensors read zero until it has read their files for the first time.
      std::this_thread::sleep_for(3 * look_every);
      return;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  kill();
  throw std::runtime_error("ipmi_sim does not answer, see " + log);
}

// The console is the last to listen, after the board has been read.
bool bmc_sim::answers() const {
  const int fd = connect_to(ports_.console);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

void bmc_sim::set(const std::string& sensor, int value) {
  write(value_file(sensor), std::to_string(value) + "\n");
}
void bmc_sim::set_dcmi_watts(int watts) { write("values/dcmi_watts", std::to_string(watts) + "\n"); }

std::string bmc_sim::console(const std::string& commands, milliseconds wait) {
  std::string said;
  const int fd = connect_to(ports_.console);
  if (fd < 0) throw std::runtime_error("the console of ipmi_sim does not answer");
  const auto text = commands + "\n";
  (void)!::write(fd, text.data(), text.size());
  read_for(fd, said, wait);
  ::close(fd);
  return said;
}

void bmc_sim::add_description(std::uint8_t number, const std::string& name) {
  // A full sensor record (IPMI 2.0, table 43-1): owner, number, entity; capabilities; units and the
  // conversion y = x; no nominal reading, the full range of a byte; no thresholds; the name in 8-bit
  // characters.
  std::vector<unsigned> record{
      0, 0, 0x51, 0x01, static_cast<unsigned>(43 + name.size()), 0x20, 0, number, 0x0b, 1, 0x7f, 0x40, 1, 1};
  record.insert(record.end(), 6, 0);  // masks of events and thresholds
  for (const unsigned byte : {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0}) record.push_back(byte);
  record.insert(record.end(), 11, 0);  // thresholds, hysteresis, reserved, OEM
  record.push_back(0xc0u | static_cast<unsigned>(name.size()));
  for (const char c : name) record.push_back(static_cast<unsigned char>(c));
  std::string command = "main_sdr_add 0x20";
  for (const auto byte : record) command += " " + std::to_string(byte);
  console(command);
}

void bmc_sim::scanning(int sensor_number, bool on, int lun) {
  const std::string none = " 000000000000000";
  console("sensor_set_event_support 0x20 " + std::to_string(lun) + " " + std::to_string(sensor_number) +
          (on ? " enable scanning" : " disable no-scanning") + " none" + none + none + none + none);
}

void bmc_sim::freeze() { ::kill(pid_, SIGSTOP); }
void bmc_sim::thaw() { ::kill(pid_, SIGCONT); }

void bmc_sim::kill() {
  if (noting_ >= 0) ::shutdown(noting_, SHUT_RDWR);  // wakes the thread
  if (reader_.joinable()) reader_.join();
  if (noting_ >= 0) ::close(noting_);
  noting_ = -1;
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void bmc_sim::replace(board_spec board) {
  kill();
  board_ = std::move(board);
  std::filesystem::remove_all(folder_ + "/state");
  write_board(folder_, board_, ports_);
  start();
}

void bmc_sim::note_commands() {
  noting_ = connect_to(ports_.console);
  if (noting_ < 0) throw std::runtime_error("the console of ipmi_sim does not answer");
  const std::string text = "debug msg\n";
  (void)!::write(noting_, text.data(), text.size());
  reader_ = std::thread([this] {
    std::array<char, 65'536> piece;
    for (ssize_t n = 0; (n = ::read(noting_, piece.data(), piece.size())) > 0;) {
      const std::lock_guard lock(guard_);
      noted_.append(piece.data(), static_cast<std::size_t>(n));
    }
  });
  std::this_thread::sleep_for(look_every);  // so that the command is in force
}

std::vector<std::string> bmc_sim::commands() {
  std::this_thread::sleep_for(look_every);  // for requests that are still on their way
  const std::lock_guard lock(guard_);
  // There is a line for each request: " channel=1 netfn=0x4 cmd=0x2d rs_addr=…".
  std::vector<std::string> all;
  std::istringstream lines(noted_);
  for (std::string line; std::getline(lines, line);) {
    const auto netfn = line.find("netfn="), command = line.find(" cmd=");
    if (netfn == line.npos || command == line.npos) continue;
    const auto end = line.find(' ', command + 1);
    all.push_back(line.substr(netfn + 6, command - netfn - 6) + " " +
                  line.substr(command + 5, end - command - 5));
  }
  return all;
}

std::vector<std::string> bmc_sim::shim_environment(const std::string& more) const {
  set_shim(more);
  return {"LD_PRELOAD=" BINNACLE_IPMI_DEVICE_SHIM, "BINNACLE_IPMI_SHIM=" + folder_ + "/shim",
          "ASAN_OPTIONS=verify_asan_link_order=0"};
}

void bmc_sim::set_shim(const std::string& more) const {
  // Written to a new file and renamed: the shim may read at any time and must not see half of it.
  write("shim.new", "port " + std::to_string(ports_.system) + "\n" + more + "\n");
  std::filesystem::rename(folder_ + "/shim.new", folder_ + "/shim");
}

}  // namespace binnacle::support
