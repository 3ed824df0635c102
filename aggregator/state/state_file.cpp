#include "aggregator/state/state_file.hpp"

#include "aggregator/snapshot/snapshot.hpp"
#include "aggregator/state/state_seal.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/os_error.hpp"
#include "common/system/quiet_thread.hpp"
#include "common/system/read_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <span>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace binnacle::aggregator {
namespace {

constexpr std::chrono::seconds longest_farewell(2);

error trouble(std::string_view what, const std::string& path) {
  return {errc_of(errno), fmt::format("state file {}: cannot {} it: {}", path, what, describe(errno))};
}

/// A FIFO would keep a reader or writer waiting for ever, and a device may have no end.
bool is_regular(const descriptor& file) {
  struct stat about {};
  return ::fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode);
}
error not_regular(const std::string& path) {
  return {errc::invalid_input, fmt::format("state file {}: it is not a regular file: remove it, or set "
                                           "--state to another path",
                                           path)};
}

/// Replaces the file as a whole: writes a new file beside it, flushes that to the disk, and renames it over
/// the old one.
result<std::uint64_t> replace(const std::string& path, snapshot s) {
  const std::string beside = path + ".new";
  // Readable by the owner alone, since it names nodes.
  const descriptor file(
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file) return trouble("create", beside);
  if (!is_regular(file)) return not_regular(beside);
  std::uint64_t size = 0;
  int failed = 0;
  const auto write = [&](std::span<const std::byte> bytes) {
    while (failed == 0 && !bytes.empty()) {
      const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        failed = errno;
        return;
      }
      size += static_cast<std::uint64_t>(n);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  };
  state_seal seal;
  encode(std::move(s), [&](std::span<const std::byte> bytes) {
    seal.add(bytes);
    write(bytes);
  });
  write(seal.bytes());
  if (failed == 0 && ::fdatasync(file.get()) != 0) failed = errno;
  if (failed != 0) {
    errno = failed;
    return trouble("write", beside);
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) return trouble("replace", path);
  return size;
}

}  // namespace

clocks clocks_now() {
  auto boot_id = read_file("/proc/sys/kernel/random/boot_id", 64);
  return {boot_id.has_value() ? *boot_id : "", boot_clock::now(), std::chrono::system_clock::now()};
}

result<snapshot> read_state(const std::string& path) {
  const descriptor file = open_readonly(path);
  if (!file) return trouble("read", path);
  if (!is_regular(file)) return not_regular(path);
  const auto wrong = [&path](const error& why) {
    return error{why.code, fmt::format("state file {}: {}", path, why.message)};
  };
  const auto bytes = read_file(file.get(), most_snapshot_bytes + state_seal::size);
  if (bytes.has_error()) return wrong(bytes.error());
  const auto content = without_seal(std::as_bytes(std::span(*bytes)));
  if (content.has_error()) return wrong(content.error());
  auto read = decode(*content);
  if (read.has_error()) return wrong(read.error());
  return read;
}

struct state_file::shared {
  explicit shared(std::string p) : path(std::move(p)) {}

  void write() {
    pthread_setname_np(pthread_self(), "state-file");
    std::unique_lock lock(guard);
    for (;;) {
      changed.wait(lock, [this] { return waiting || stopped; });
      if (!waiting) return;
      snapshot s = *std::exchange(waiting, std::nullopt);
      const std::uint64_t left_out = s.left_out;
      busy = true;
      lock.unlock();
      const auto done = replace(path, std::move(s));
      lock.lock();
      busy = false;
      (done.has_error() ? counted.failed : counted.written)++;
      counted.trouble = done.has_error() ? done.error().message : "";
      if (!done.has_error()) {
        counted.bytes = *done;
        counted.left_out = left_out;
      }
      idle.notify_all();
    }
  }

  const std::string path;
  std::mutex guard;
  std::condition_variable changed, idle;
  std::optional<snapshot> waiting;
  bool busy = false, stopped = false;
  counters counted;
};

state_file::state_file(std::string path) : shared_(std::make_shared<shared>(std::move(path))) {
  quiet_thread([state = shared_] { state->write(); }).detach();
}

state_file::~state_file() {
  std::unique_lock lock(shared_->guard);
  shared_->stopped = true;
  shared_->changed.notify_all();
  shared_->idle.wait_for(lock, longest_farewell, [this] { return !shared_->waiting && !shared_->busy; });
}

void state_file::keep(snapshot s) {
  const std::lock_guard lock(shared_->guard);
  shared_->waiting = std::move(s);
  shared_->changed.notify_all();
}

bool state_file::is_busy() const {
  const std::lock_guard lock(shared_->guard);
  return shared_->waiting || shared_->busy;
}

state_file::counters state_file::counted() const {
  const std::lock_guard lock(shared_->guard);
  return shared_->counted;
}

}  // namespace binnacle::aggregator
