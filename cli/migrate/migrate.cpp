#include "cli/migrate/migrate.hpp"

#include "cli/input_file.hpp"
#include "cli/progress.hpp"
#include "cli/yaml_text.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace binnacle::cli {
namespace migrate {
namespace {

struct heading {
  note::fate what;
  std::string_view word;   ///< in the JSON
  std::string_view title;  ///< above the notes
  colour ink;
};
constexpr std::array headings{
    heading{note::fate::carried, "carried", "Carried over into the values", colour::green},
    heading{note::fate::works, "works", "Works without doing anything", colour::green},
    heading{note::fate::dropped, "dropped", "Not needed any more", colour::dim},
    heading{note::fate::yours, "yours", "For you to do or decide", colour::yellow},
};

}  // namespace

std::string values_text(const migration& m) {
  std::string out =
      "# Values for the chart binnacle, made by `binnacle migrate` from the manifests of an installation of "
      "Intel TAS or WAO.\n# Only what differs from the chart's defaults.\n";
  if (m.values.size() == 0) return out + "{}\n";
  return out + yaml_text(m.values);
}

std::string objects_text(const migration& m) {
  std::string out;
  for (const YAML::Node& object : m.objects) out += (out.empty() ? "" : "---\n") + yaml_text(object);
  return out;
}

std::string report_text(const migration& m, const paint& with, std::size_t width) {
  std::string out;
  for (const heading& h : headings) {
    const auto of_it = [&](const note& n) { return n.what == h.what; };
    if (std::none_of(m.notes.begin(), m.notes.end(), of_it)) continue;
    out += fmt::format("{}{}\n", out.empty() ? "" : "\n", with(h.ink, h.title));
    for (const note& n : m.notes) {
      if (!of_it(n)) continue;
      out += fmt::format("  {}\n", with(colour::bold, n.subject));
      out += "    " + wrapped(n.sentence, 4, width) + '\n';
    }
  }
  if (!m.objects.empty())
    out += fmt::format("\n{}\n{}", with(colour::yellow, "To apply as well, with kubectl apply -f"),
                       objects_text(m));
  return out;
}

std::string as_json(const migration& m) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("values", values_text(m)).field("objects", objects_text(m));
  out.key("notes").begin_array();
  for (const note& n : m.notes) {
    const auto h =
        std::find_if(headings.begin(), headings.end(), [&](const heading& x) { return x.what == n.what; });
    out.begin_object()
        .field("fate", h->word)
        .field("subject", n.subject)
        .field("sentence", n.sentence)
        .end_object();
  }
  out.end_array().end_object();
  return text + '\n';
}

}  // namespace migrate

// `kubectl get -o yaml` of several namespaces is smaller than this.
constexpr std::size_t most_manifest_bytes = 64u << 20;

namespace {

/// Reads the objects of all files. Errors: which file, and what is wrong with it.
result<std::vector<migrate::manifest>> read_all(const std::vector<std::string>& files, const terminal& on) {
  std::vector<migrate::manifest> all;
  progress shown(on, "migrate", files.size());
  for (const std::string& file : files) {
    shown.step(file == "-" ? "standard input, to its end" : file);
    const auto text = input_file(file, most_manifest_bytes);
    if (text.has_error()) return error{text.error().code, fmt::format("{} {}", file, text.error().message)};
    auto found = migrate::read_manifests(file, *text);
    if (!found) return found.error();
    if (found->empty()) {
      return error{errc::invalid_input,
                   fmt::format("{} holds no Kubernetes object: nothing in it has a kind", file)};
    }
    std::move(found->begin(), found->end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

int migrate_command(const std::vector<std::string>& files, const terminal& on) {
  const auto all = read_all(files, on);
  if (all.has_error()) {
    on.err << "binnacle: " << all.error().message << '\n';
    return exit_problem;
  }
  const auto done = migrate::migrate(*all);
  if (on.json) {
    on.out << migrate::as_json(done);
  } else {
    on.out << migrate::values_text(done);
    on.err << migrate::report_text(done, on.with, 100);
  }
  return exit_ok;
}

}  // namespace binnacle::cli
