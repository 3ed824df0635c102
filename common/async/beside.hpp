#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

namespace binnacle::async {

/// One thread beside a loop, for work that would keep the loop from everybody else: pieces of it run one
/// after the other. The work must touch nothing that the loop touches. Threads: the loop's.
class beside {
 public:
  explicit beside(boost::asio::io_context& loop);
  /// Waits for the piece under way; the others, and what was to follow, are dropped.
  ~beside();
  beside(const beside&) = delete;
  beside& operator=(const beside&) = delete;

  /// Runs `work` on the thread, and then `then` on the loop. An exception of `work` ends the program.
  void run(std::function<void()> work, std::function<void()> then);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::async
