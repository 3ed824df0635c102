#include "tests/bench/scale/process.hpp"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace binnacle::bench {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

double status_mib(pid_t pid, const char* key) {
  std::istringstream in(slurp("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) == 0) return std::stod(line.substr(std::strlen(key) + 1)) / 1024;
  }
  return 0;
}

// Name and CPU seconds from one stat file. The name stands in parentheses and may hold blanks.
std::pair<std::string, double> thread_cpu(const std::string& stat) {
  const auto open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {"", 0};
  std::istringstream rest(stat.substr(close + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) rest >> skipped;
  double user = 0, system = 0;
  rest >> user >> system;
  return {stat.substr(open + 1, close - open - 1),
          (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK))};
}

}  // namespace

process::process(const std::vector<std::string>& command, const std::string& log_file) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int failed = posix_spawn(&pid_, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error(command.front() + ": " + std::strerror(failed));
}

process::~process() { stop(); }

bool process::running() const {
  return pid_ > 0 && kill(pid_, 0) == 0 && waitpid(pid_, nullptr, WNOHANG) == 0;
}
void process::signal(int number) const { kill(pid_, number); }

void process::stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  for (int i = 0; i < 1000; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

double process::resident_mib() const { return status_mib(pid_, "VmRSS:"); }
double process::peak_mib() const { return status_mib(pid_, "VmHWM:"); }

std::map<std::string, double> process::cpu_by_thread() const {
  std::map<std::string, double> out;
  std::error_code ec;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", ec)) {
    const auto [name, seconds] = thread_cpu(slurp(entry.path() / "stat"));
    out[name] += seconds;
  }
  return out;
}

double process::cpu() const { return thread_cpu(slurp("/proc/" + std::to_string(pid_) + "/stat")).second; }

}  // namespace binnacle::bench
