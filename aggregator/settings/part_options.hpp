#pragma once

#include "aggregator/core/core.hpp"
#include "aggregator/decision/ring.hpp"
#include "aggregator/extender/face.hpp"
#include "aggregator/ingest/listener.hpp"
#include "aggregator/kube/objects/policy_room.hpp"
#include "aggregator/sender/sender.hpp"
#include "aggregator/settings/config.hpp"
#include "aggregator/settings/descriptor_plan.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"

#include <vector>

/// Makes the settings of each part of the program from settings that validate() has accepted. Pure.
namespace binnacle::aggregator {

core_options core_options_of(const settings& s);
kube::policy_room::limits policy_room_of(const settings& s);
/// Leaves out `tls` and `review`, which are not settings.
ingest::ingest_options ingest_options_of(const settings& s, const descriptor_plan& room);
extender::options extender_options_of(const settings& s);
/// `e`: the settings of one protocol.
sender::settings sender_settings_of(const settings& s, const sender_settings& e);
decision::ring_limits ring_limits_of(const settings& s);

/// The ops ports of the other replicas that are asked for their state.
std::vector<endpoint> other_replicas_of(const settings& s);

tls::options tls_for_agents(const settings& s);
tls::options tls_for_callers(const settings& s, tls::client_certificate clients);
/// The TLS options of a replica that asks another one: both show the certificate that all replicas share.
tls::options tls_between_replicas(const settings& s);

}  // namespace binnacle::aggregator
