#pragma once

#include "agent/base/source_kind.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::support {

/// Gives a source's own settings to `kind` as flags ("--path", "a:1"), and then completes it with `s`.
/// Errors: those of the flags, or those of complete().
inline result<void> give(agent::source_kind& kind, std::vector<const char*> flags, const agent::settings& s) {
  config_spec spec("agent_test", "", "");
  kind.bind(spec);
  flags.insert(flags.begin(), "agent_test");
  std::ostringstream out;
  if (const auto done = spec.parse(static_cast<int>(flags.size()), flags.data(), out); !done)
    return done.error();
  return kind.complete(s);
}

/// The description of one source with these flags, which must be valid.
template <class Kind>
std::unique_ptr<Kind> parsed_kind(std::vector<const char*> flags, const agent::settings& s = {}) {
  auto kind = std::make_unique<Kind>();
  const auto done = give(*kind, std::move(flags), s);
  if (!done) FAIL(done.error().message);
  return kind;
}

}  // namespace binnacle::support
