#include "cli/dashboard/open_browser.hpp"

#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <system_error>
#include <unistd.h>

namespace binnacle::cli::dashboard {

result<browser_page> browser_page::open(const std::string& link) {
  std::error_code ec;
  const char* own = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder =
      own != nullptr && *own != '\0' ? own : std::filesystem::temp_directory_path(ec).string();
  std::string file = folder + "/binnacle-XXXXXX.html";
  const int fd = ::mkostemps(file.data(), 5, O_CLOEXEC);  // mode 0600
  if (fd < 0) return error{errc::io, fmt::format("no file can be made in {}: {}", folder, describe(errno))};
  browser_page page(file);
  // The link needs no escaping: it has only letters, digits and the signs of a URL.
  const std::string text = fmt::format(
      "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={0}\"><a href=\"{0}\">Binnacle</a>\n",
      link);
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  ::close(fd);
  if (!written) return error{errc::io, fmt::format("{} cannot be written: {}", file, describe(why))};

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  // The browser's messages must not appear in our terminal, and our Ctrl-C must not end the browser.
  for (const int standard : {0, 1, 2})
    ::posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  // The browser lives on after us. Asio's sockets are not close-on-exec, and it would keep our port.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string program = "xdg-open";
  std::array<char*, 3> words{program.data(), page.file_.data(), nullptr};
  const int failed = ::posix_spawnp(nullptr, program.c_str(), &actions, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return error{errc::not_found,
                 fmt::format("xdg-open cannot be run ({}): open the link by hand", describe(failed))};
  }
  return page;
}

browser_page::~browser_page() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

}  // namespace binnacle::cli::dashboard
