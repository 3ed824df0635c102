#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

namespace binnacle::async {

/// One thread beside a loop, for work that takes too long for the loop itself. The pieces of work run one
/// after another. They must touch nothing that the loop touches. Threads: the methods are called on the
/// loop's thread.
class beside {
 public:
  explicit beside(boost::asio::io_context& loop);
  /// Waits for the piece that is running. The pieces that have not begun are dropped, and so are all `then`
  /// calls that are still to come.
  ~beside();
  beside(const beside&) = delete;
  beside& operator=(const beside&) = delete;

  /// Runs `work` on the thread, and afterwards `then` on the loop. If `work` throws, the program ends.
  void run(std::function<void()> work, std::function<void()> then);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::async
