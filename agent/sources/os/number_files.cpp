#include "agent/sources/os/number_files.hpp"

#include "agent/kernel/absence_of.hpp"
#include "agent/kernel/kernel_file.hpp"

#include <atomic>
#include <utility>

namespace binnacle::agent {

// What the reading needs. The reader's thread uses it while a reading is under way, the loop uses it
// otherwise.
struct number_files::work {
  struct entry {
    kernel_file from;
    bool once = false;
    number last;

    void read() noexcept {
      const auto value = from.read_integer();
      const int failed = value ? 0 : from.last_errno();
      last = {value.value_or(0), absence_of(failed), failed};
    }
  };
  std::vector<entry> entries;
  std::function<instant()> now;
  instant read_at{};
  duration took{};
  std::atomic<bool> done = false;

  void run() noexcept {
    const auto before = now();
    bool came_or_went = false;
    for (auto& e : entries) {
      if (e.once) continue;
      const bool was_missing = e.last.reason == absence::missing;
      e.read();
      came_or_went = came_or_went || was_missing != (e.last.reason == absence::missing);
    }
    // If a file came or went, another drive may be there now, with other limits.
    for (auto& e : entries) {
      if (e.once && (came_or_went || e.last.reason != absence::none)) e.read();
    }
    read_at = now();
    took = read_at - before;
    done.store(true, std::memory_order_release);
  }
};

number_files::number_files(std::vector<file> files, std::shared_ptr<slow_reader> reader, clocks time)
    : reader_(std::move(reader)),
      time_(std::move(time)),
      work_(std::make_shared<work>()),
      numbers_(files.size()) {
  work_->now = time_.now;
  for (auto& f : files) work_->entries.push_back({kernel_file(std::move(f.path)), f.once, {}});
}

bool number_files::poll(duration period) {
  if (busy_) return collect();
  const auto now = time_.now();
  // Ticks come a little early or late, so a reading that is due within a tenth of the period begins now.
  if (now + period / 10 < next_) return false;
  next_ = now + period;
  started_ = now;
  busy_ = true;
  work_->done.store(false, std::memory_order_relaxed);
  if (!reader_) {
    work_->run();
    return collect();
  }
  reader_->run([w = work_] { w->run(); });
  return false;
}

bool number_files::collect() {
  if (!work_->done.load(std::memory_order_acquire)) return false;
  busy_ = false;
  for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = work_->entries[i].last;
  read_at_ = work_->read_at;
  took_ = work_->took;
  return true;
}

bool number_files::overdue() const {
  return busy_ && reader_ && !work_->done.load(std::memory_order_acquire) &&
         time_.now() - started_ > reader_->limits().patience;
}

}  // namespace binnacle::agent
