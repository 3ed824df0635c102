#include "tests/support/data.hpp"

namespace binnacle::support {

std::string data_folder() { return BINNACLE_TEST_DATA; }

}  // namespace binnacle::support
