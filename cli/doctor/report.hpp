#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/views/paint.hpp"

#include <span>
#include <string>
#include <string_view>

namespace binnacle::cli::doctor {

/// "ok", "warning", "failure", "unchecked": the words of the JSON.
std::string_view to_string(grade g) noexcept;

/// How many findings have that grade.
std::size_t count(std::span<const chapter> all, grade g) noexcept;

/// A page for people: a line for each finding, its remedy below it, and a last line with the counts. `width`
/// is in columns.
std::string as_text(std::string_view host, std::span<const chapter> all, const paint& with,
                    std::size_t width);

/// {"host":…,"findings":[{"check","grade","sentence","remedy"}],"failures":n,"warnings":n,"unchecked":n};
/// "remedy" only where there is one.
std::string as_json(std::string_view host, std::span<const chapter> all);

}  // namespace binnacle::cli::doctor
