#include "common/exposition.hpp"
