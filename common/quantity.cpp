#include "common/quantity.hpp"
