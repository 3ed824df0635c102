#pragma once

namespace binnacle::policy::test {

/// While an object of this class exists, readdir(3) of this program fails with an errno, as on a network file
/// system whose server lost the folder after opendir() succeeded. Threads: one.
class failing_readdir {
 public:
  explicit failing_readdir(int error_number);
  ~failing_readdir();
  failing_readdir(const failing_readdir&) = delete;
  failing_readdir& operator=(const failing_readdir&) = delete;
};

}  // namespace binnacle::policy::test
