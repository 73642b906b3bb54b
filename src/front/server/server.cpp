#include "front/server/server.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/error.h"
#include "base/files/read_file.h"

namespace edict::server {
namespace {

// A store that does not answer must not hold up the end.
constexpr std::chrono::seconds kPatienceAtEnd(2);

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

std::shared_ptr<const Tokens> tokens_of(const ServeSettings& settings) {
  if (settings.tokens.empty()) return nullptr;
  return std::make_shared<const Tokens>(Tokens::read(settings.tokens));
}

// As many as were wanted, where the system gives each a descriptor.
std::size_t possible_connections(std::size_t wanted, std::vector<std::string>& notices) {
  constexpr rlim_t kOthers = 256;  // of the store, the model, connections above the limit
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted + kOthers) return wanted;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted + kOthers);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted + kOthers) return wanted;
  const std::size_t possible = limit.rlim_cur > 2 * kOthers ? limit.rlim_cur - kOthers : kOthers;
  notices.push_back(fmt::format(
      "the system allows {} open files, which is enough for {} connections and not for {}; raise "
      "LimitNOFILE or ulimit -n, or lower --most-connections",
      limit.rlim_cur, possible, wanted));
  return std::min(wanted, possible);
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
  std::shared_ptr<const Tokens> tokens = tokens_of(settings_);
  std::vector<Rule> rules = rules_of(settings_, *model);
  std::unique_ptr<Store> store = open_store(settings_.store, settings_.store_options, notices_);
  for (const std::string& notice : notices_)
    store->add_audit({wall_seconds(), "store", "", "", notice});
  HttpSettings http = settings_.http;
  http.open = !tokens;
  http.most_connections = possible_connections(http.most_connections, notices_);
  live_ =
      std::make_unique<Live>(std::move(model), settings_.live, std::move(store), std::move(rules));
  health_ = std::make_unique<Health>(*live_);
  notices_.insert(notices_.end(), live_->notices().begin(), live_->notices().end());
  ApiSettings api = settings_.api;
  if (api.name.empty()) api.name = settings_.model.stem().string();
  api_ = std::make_unique<Api>(*live_, api, std::move(tokens), health_.get());
  http_ = std::make_unique<HttpServer>(*api_, live_->event_log(), http);
}

Server::~Server() {
  if (http_) {
    http_->stop_accepting();
    live_->limit_wait(kPatienceAtEnd);
    // Who was promised an answer gets it, if that takes no longer than a disk may.
    for (int waited = 0; live_->pending() > 0 && waited < 10000; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    http_->stop();
  }
  health_.reset();
  live_.reset();
  api_.reset();
}

std::vector<std::string> Server::reload() {
  std::vector<std::string> said;
  const auto attempt = [&](const std::string& what, const std::string& file, const auto& read) {
    if (file.empty()) return;
    try {
      // What was read from a pipe is gone, and waiting for more would stop everything.
      std::error_code unknown;
      if (std::filesystem::exists(file, unknown) && !std::filesystem::is_regular_file(file))
        throw Error(fmt::format("{}: is no regular file and cannot be read again", file));
      read();
      said.push_back(fmt::format("{}: {} read again", file, what));
    } catch (const Error& e) {
      said.push_back(fmt::format("{}; the {} that were in force stay", e.what(), what));
    }
  };
  attempt("tokens", settings_.tokens, [&] { api_->set_tokens(tokens_of(settings_)); });
  attempt("certificate and key", settings_.http.certificate, [&] { http_->reload_certificate(); });
  attempt("rules", settings_.rules, [&] {
    std::promise<Result<>> kept;
    live_->set_rules(rules_of(settings_, live_->model()), "SIGHUP",
                     [&](const Result<>& written) { kept.set_value(written); });
    if (const Result<> set = kept.get_future().get(); !set) throw Error(set.failure().text);
  });
  if (said.empty())
    said.emplace_back("nothing to read again: there are no --tokens, --tls-cert and --rules");
  return said;
}

std::string Server::url() const {
  const std::string& address = settings_.http.address;
  return fmt::format("{}://{}:{}/", settings_.http.certificate.empty() ? "http" : "https",
                     address.find(':') == std::string::npos ? address : "[" + address + "]",
                     port());
}

}  // namespace edict::server
