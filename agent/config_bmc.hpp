#pragma once

#include "agent/config.hpp"
#include "agent/sources/bmc/bmc.hpp"

namespace binnacle::agent {

/// The settings of the BMC and its helper.
void bind_bmc(config_spec& spec, settings& s);

/// What they mean for the source. Errors: invalid_input, one sentence with the remedy.
result<bmc_options> make_bmc_options(const settings& s);

}  // namespace binnacle::agent
