#pragma once

#include "aggregator/model_servers/served_model.hpp"
#include "cli/migrate/migration.hpp"

#include <string>

/// Which servers the aggregator may ask, and which Secrets it may read, for the models that WAO's objects and
/// labels name: aggregator.modelServers and aggregator.modelServersSecrets. `whose` is the subject of the
/// notes, the object that names them.
namespace binnacle::cli::migrate {

/// Whether the aggregator may read the Secret of an object in this namespace. It reads those of one namespace
/// only, that of the first object that names one. `secret` begins the sentence for people: "its Secrets are".
bool reads_secrets_of(const std::string& name_space, const std::string& secret, const std::string& whose,
                      migration& out);

/// Lets the aggregator read the Secret "NAMESPACE/NAME". False: it will not be read.
bool allow_secret(const std::string& secret, const std::string& whose, migration& out);

/// Lets the aggregator ask a server. False: it is in the list already.
bool allow_server(const std::string& server, bool secure, const std::string& whose, migration& out);

/// Lets the aggregator ask the model's server.
void allow_model(const model_servers::served_model& model, const std::string& whose, migration& out);

/// Says what a person must do about servers that an endpoint provider will name: which these are is not known
/// here.
void tell_of_provided_servers(migration& out);

/// Says what a person must do if no public authority signed the certificate of `server`, which speaks TLS.
void tell_of_authority(const std::string& server, const std::string& whose, migration& out);

}  // namespace binnacle::cli::migrate
