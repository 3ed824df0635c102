#pragma once

#include "agent/base/clocks.hpp"
#include "agent/sources/scrape/sample_picker.hpp"
#include "agent/sources/scrape/target.hpp"
#include "common/async/task.hpp"
#include "common/http/client/client.hpp"
#include "common/tls/context.hpp"

#include <memory>
#include <optional>
#include <string>

namespace binnacle::agent {

/// What one scrape gave: a reading, or why there is none.
struct scrape_outcome {
  std::optional<sample_picker::reading> reading;
  error why;           ///< when there is no reading
  std::string remedy;  ///< likewise
  std::string remark;  ///< what is wrong though it costs no value
  std::size_t bytes = 0;
  instant at{};  ///< when the last byte was there
  duration took{};
};

/// Scrapes one exporter: one connection, one GET, nothing followed, the answer parsed as it arrives. Whatever
/// the other side does, a scrape ends within the target's timeout, takes no more than its bytes, and holds no
/// more than its sample_picker holds and a line. Include from .cpp files only. Threads: one loop.
class scraper {
 public:
  explicit scraper(scrape_target wanted, clocks time = {});
  const scrape_target& wanted() const noexcept { return wanted_; }

  /// One scrape at a time. `self` keeps the scraper while it runs.
  static async::task<scrape_outcome> once(std::shared_ptr<scraper> self);

 private:
  async::task<result<void>> read(scrape_outcome& out, async::deadline until);
  result<http::call> request();
  result<void> check(const http::answer& head) const;

  scrape_target wanted_;
  clocks time_;
  sample_picker picked_;
  std::shared_ptr<tls::context> tls_;  // https: from the first scrape on that finds the files
  http::client client_;
};

}  // namespace binnacle::agent
