#pragma once

#include "common/system/descriptor.hpp"

#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace binnacle::support {

/// A pipe in the place of a file. It has `text` in it and stays open for writing, so that a program that
/// wrongly reads it gets the text instead of waiting for ever.
class full_pipe {
 public:
  full_pipe(const std::string& path, std::string_view text) {
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("cannot make the pipe " + path);
    writer_ = descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (!writer_ || ::write(writer_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("cannot fill the pipe " + path);
  }

 private:
  descriptor writer_;
};

}  // namespace binnacle::support
