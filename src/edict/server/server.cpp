#include "edict/server/server.h"

#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "edict/core/error.h"
#include "edict/core/read_file.h"

namespace edict::server {
namespace {

// Elsewhere than on this machine everybody who knows the address could read and write.
void check_who_may_come(const ServeSettings& settings) {
  if (settings.http.certificate.empty() != settings.http.key.empty())
    throw Error("--tls-cert and --tls-key belong together; give both");
  if (is_loopback(settings.http.address)) return;
  if (settings.tokens.empty())
    throw Error(
        fmt::format("--listen {}: others can reach this address; give --tokens FILE, or "
                    "listen on 127.0.0.1",
                    settings.http.address));
  if (settings.http.certificate.empty() && !settings.plain_http)
    throw Error(
        fmt::format("--listen {}: tokens would travel in the open; give --tls-cert and "
                    "--tls-key, or --plain-http where a proxy ends TLS",
                    settings.http.address));
}

std::vector<Rule> rules_of(const ServeSettings& settings, const Model& model) {
  if (settings.rules.empty()) return {};
  try {
    return read_rules(read_file(settings.rules), model);
  } catch (const BadInput& e) {
    throw Error(fmt::format("{}: rule {}", settings.rules, e.what()));
  }
}

}  // namespace

Server::Server(ServeSettings settings)
    : settings_([&] {
        check_who_may_come(settings);
        return std::move(settings);
      }()) {
  auto model = std::make_shared<const Model>(load_model(settings_.model));
  if (!settings_.tokens.empty()) tokens_ = std::make_unique<Tokens>(Tokens::read(settings_.tokens));
  std::vector<Rule> rules = rules_of(settings_, *model);
  std::unique_ptr<Store> store = open_store(settings_.store, settings_.store_options, notices_);
  for (const std::string& notice : notices_)
    store->add_audit({wall_seconds(), "store", "", "", notice});
  live_ =
      std::make_unique<Live>(std::move(model), settings_.live, std::move(store), std::move(rules));
  notices_.insert(notices_.end(), live_->notices().begin(), live_->notices().end());
  ApiSettings api = settings_.api;
  if (api.name.empty()) api.name = settings_.model.stem().string();
  api_ = std::make_unique<Api>(*live_, api, tokens_.get());
  HttpSettings http = settings_.http;
  http.open = !tokens_;
  http_ = std::make_unique<HttpServer>(*api_, live_->event_log(), http);
}

Server::~Server() {
  if (http_) {
    http_->stop_accepting();
    // Who was promised an answer gets it, if that takes no longer than a disk may.
    for (int waited = 0; live_->pending() > 0 && waited < 10000; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    http_->stop();
  }
  live_.reset();
  api_.reset();
}

std::string Server::url() const {
  const std::string& address = settings_.http.address;
  return fmt::format("{}://{}:{}/", settings_.http.certificate.empty() ? "http" : "https",
                     address.find(':') == std::string::npos ? address : "[" + address + "]",
                     port());
}

}  // namespace edict::server
