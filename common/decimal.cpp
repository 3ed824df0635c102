#include "common/decimal.hpp"
