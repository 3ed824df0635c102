#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace binnacle::aggregator {

struct clocks;  // snapshot/snapshot.hpp
struct snapshot;

/// The clocks of this process, and whose boot it is. Reads /proc/sys/kernel/random/boot_id.
clocks clocks_now();

/// The snapshot in the file, as it was last written. Errors: not_found; io; overloaded (larger than
/// most_snapshot_bytes); invalid_input (no snapshot of this version, not the bytes that were written, or no
/// regular file). Blocks: for the start only.
result<snapshot> read_state(const std::string& path);

/// Writes snapshots to a file, on a thread of its own: the disk may hang, the loop that agents are connected
/// to must not. A new file replaces the old one as a whole, so a reader never sees half of one, whenever the
/// process is killed.
class state_file {
 public:
  struct counters {
    std::uint64_t written = 0, failed = 0;
    std::uint64_t bytes = 0, left_out = 0;  ///< of the newest: its size, and snapshot::left_out
    std::string trouble;                    ///< why the last write failed; empty: it did not
  };

  /// `path` lies in a folder that this process may write to.
  explicit state_file(std::string path);
  /// Waits for the write under way, 2 s at most.
  ~state_file();
  state_file(const state_file&) = delete;
  state_file& operator=(const state_file&) = delete;

  /// Queues a snapshot. It is written after the one that is being written, and replaces one that still waits.
  /// Any thread; does not block.
  void keep(snapshot s);
  /// Whether a snapshot is being written or waits. Another one would only take memory.
  bool is_busy() const;
  counters counted() const;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

}  // namespace binnacle::aggregator
