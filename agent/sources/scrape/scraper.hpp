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

/// The outcome of one scrape: a reading, or why there is none.
struct scrape_outcome {
  std::optional<sample_picker::reading> reading;
  error why;           ///< when there is no reading
  std::string remedy;  ///< what to do then
  std::string remark;  ///< a remark that costs no value
  std::size_t bytes = 0;
  instant at{};  ///< when the last byte arrived
  duration took{};
};

/// Scrapes one exporter: one connection and one GET, without following redirects. The answer is parsed as it
/// arrives. Whatever the exporter does, a scrape ends within the target's timeout, reads at most the target's
/// `bytes`, and keeps only one line and what its sample_picker keeps. Include from .cpp files only. Threads:
/// one loop.
class scraper {
 public:
  explicit scraper(scrape_target wanted, clocks time = {});
  const scrape_target& wanted() const noexcept { return wanted_; }

  /// Runs one scrape. Only one at a time. `self` keeps the scraper alive while it runs.
  static async::task<scrape_outcome> once(std::shared_ptr<scraper> self);

 private:
  async::task<result<void>> read(scrape_outcome& out, async::deadline until);
  result<http::call> request();
  result<void> check(const http::answer& head) const;

  scrape_target wanted_;
  clocks time_;
  sample_picker picked_;
  std::shared_ptr<tls::context> tls_;  // for https; made by the first scrape that finds the files
  http::client client_;
};

}  // namespace binnacle::agent
