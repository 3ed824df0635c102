#pragma once

#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/kube/objects/reflector.hpp"
#include "aggregator/model_servers/allowed.hpp"
#include "aggregator/model_servers/asker.hpp"
#include "aggregator/model_servers/complaints.hpp"
#include "aggregator/model_servers/endpoint_providers.hpp"
#include "aggregator/model_servers/node_addresses.hpp"
#include "aggregator/model_servers/node_configs.hpp"
#include "aggregator/model_servers/passwords.hpp"
#include "aggregator/model_servers/service.hpp"
#include "aggregator/model_servers/trouble_log.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/grpc/client.hpp"
#include "common/http/client/client.hpp"
#include "common/tls/context.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::model_servers {

/// What the coroutines use. Each coroutine holds a reference, so it lives until all have ended, even after
/// the service.
struct worker : std::enable_shared_from_this<worker> {
  worker(allowed_servers a, std::shared_ptr<tls::context> rest, std::shared_ptr<tls::context> grpc,
         std::string secrets_of, logger l)
      : allowed(std::move(a)),
        security(std::move(rest)),
        grpc_security(std::move(grpc)),
        log(std::move(l)),
        secrets(std::move(secrets_of)),
        providers(std::random_device{}()),
        questions(std::random_device{}()) {}

  using formats = std::array<bool, policy::cpu_formats>;
  struct demand {
    formats wanted{};       // by policies that may use served models
    bool predicts = false;  // some policy has minimizepower
    bool any() const {
      return std::ranges::any_of(wanted, [](bool w) { return w; });
    }
  };
  demand asked_for() const;
  void forget_all();
  void look(instant now);
  void look_at(const store::node_view& node, const formats& wanted, instant now);
  /// The model of a node.
  struct choice {
    std::optional<named_model> model;      // none: nothing names one
    std::vector<named_model> passed_over;  // others that name none
    std::string note;  // what is wrong with its endpoint provider, in the words for this node; empty: nothing
  };
  choice model_of(const std::string& node, instant now);
  void ask_provider_of(choice& c, instant now);
  void follow(std::unique_ptr<kube::reflector> one);
  void look_at_objects(instant now);
  void log_troubles(instant now);
  http::client& client_of(const served_model& m);
  grpc::client& grpc_client_of(const served_model& m);
  void start(async::loop& on, service::parts p);
  std::vector<std::string> troubles() const;
  bool may_ask(const std::string& secret, bool secure) const;
  async::task<result<reply>> ask_by_rest(const asker::call& c, const std::string& authorization);
  async::task<result<reply>> ask_by_grpc(const asker::call& c, const std::string& authorization);
  static async::task<void> ask(std::shared_ptr<worker> self, asker::call c, std::string authorization);
  static async::task<void> read_secret(std::shared_ptr<worker> self, http::call what);
  static async::task<void> ask_provider(std::shared_ptr<worker> self, endpoint_providers::call first,
                                        std::string authorization);
  static async::task<void> keep_asking(std::shared_ptr<worker> self);

  const allowed_servers allowed;
  const std::shared_ptr<tls::context> security;       // of https; null: nobody may be asked
  const std::shared_ptr<tls::context> grpc_security;  // of grpcs, which offers HTTP/2
  const logger log;
  passwords secrets;
  endpoint_providers providers;
  asker questions;
  node_configs configs;
  node_addresses addresses;  // followed once a template asks for them
  std::vector<std::unique_ptr<kube::reflector>> followers;
  complaints wrong;
  instant objects_looked_at{};
  bool all_objects = true;  // were looked at then
  bool in_parts = false;    // the last look was ended by its time
  std::unique_ptr<service::parts> with;
  std::map<std::string, std::unique_ptr<http::client>> clients;  // by scheme and server
  std::map<std::string, std::unique_ptr<grpc::client>> grpc_clients;
  // The last question of each node and format, so that inputs between two steps cause no new question.
  std::vector<std::array<std::optional<question>, policy::cpu_formats>> last;
  std::string last_looked_at;
  bool idle = true;
  trouble_log logged;
  instant logged_at{};
  std::unique_ptr<async::event> answered;
  std::unique_ptr<async::task_group> running;  // last: it uses all of these
};

}  // namespace binnacle::model_servers
