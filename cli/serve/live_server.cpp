#include "cli/serve/live_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string_view>
#include <thread>

#include "report/live/live_study.hpp"

namespace windtunnel {
namespace {

constexpr int kConnections = 256;  // in parallel; each has a thread, which mostly waits
constexpr int kPatience_s = 5;     // for a client that sends an incomplete request or does not read
// How long a connection stays open after an answer; stopping waits for it.
constexpr int kIdle_s = 1;
constexpr std::size_t kLongestRequest = std::size_t{64} * 1024;
constexpr auto kLook = std::chrono::milliseconds(50);  // interval between checks of `stop`

// Takes the same time for every token of this length, so that timing reveals nothing.
bool same(std::string_view one, std::string_view other) {
  unsigned differ = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    differ |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  }
  return differ == 0;
}

void send_json(httplib::Response& response, int status, const Json& document) {
  response.status = status;
  response.set_content(json_text(document, -1), "application/json");
}

// Closes the connection, because the rest of a refused request could be anything.
void refuse(httplib::Response& response, int status, const char* text) {
  response.status = status;
  response.set_header("Connection", "close");
  response.set_content(text, "text/plain");
}

void send_stranger_away(httplib::Response& response) {
  refuse(response, 403, "This page opens at the address that windtunnel serve printed.\n");
}

class Handlers {
 public:
  Handlers(LiveStudy& study, std::string token) : study_(study), token_(std::move(token)) {}

  void add_to(httplib::Server& server) {
    server.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return is_let_in(request, response) ? httplib::Server::HandlerResponse::Unhandled
                                              : httplib::Server::HandlerResponse::Handled;
        });
    server.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(live_page(study_), "text/html; charset=utf-8");
    });
    answer(server, "/answer", [this](const Overrides& set, httplib::Response& response) {
      send_json(response, 200, study_.answer(set));
    });
    answer(server, "/step", [this](const Overrides& set, httplib::Response& response) {
      send_json(response, 200, study_.answer(set, StudyDepth::step));
    });
    answer(server, "/limits", [this](const Overrides& set, httplib::Response& response) {
      send_json(response, 200, study_.limits(set));
    });
    answer(server, "/scenario", [this](const Overrides& set, httplib::Response& response) {
      response.set_content(study_.scenario_text(set), "text/yaml; charset=utf-8");
    });
  }

 private:
  // Checks the token before a body is read: GET has it in the address, POST in a header.
  bool is_let_in(const httplib::Request& request, httplib::Response& response) const {
    const bool post = request.method == "POST";
    const std::string said = post ? request.get_header_value("Authorization")
                                  : "Bearer " + request.get_param_value("token");
    if (!same(said, "Bearer " + token_)) {
      send_stranger_away(response);
      return false;
    }
    // The library checks only a stated length against kLongestRequest.
    if (post && !request.has_header("Content-Length")) {
      refuse(response, 411, "A request must state its length.\n");
      return false;
    }
    return true;
  }

  template <class Send>
  void answer(httplib::Server& server, const char* path, Send send) {
    server.Post(path, [this, send](const httplib::Request& request, httplib::Response& response) {
      const Json body = Json::parse(request.body, nullptr, false);
      if (!body.is_object() || !body.contains("set")) {
        return send_json(response, 400, {{"error", "not a request of this page"}});
      }
      try {
        send(checked_settings(study_.controls(), body["set"]), response);
      } catch (const Error& error) {
        send_json(response, 422, {{"error", error.text()}, {"keys", error.keys()}});
      } catch (const std::exception& error) {  // even a bug of ours does not end the server
        send_json(response, 500, {{"error", error.what()}});
      }
    });
  }

  LiveStudy& study_;
  std::string token_;
};

}  // namespace

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

void serve(LiveStudy& study, const ServerOptions& options, const std::atomic<bool>& stop,
           const std::function<void(int port)>& listening) {
  CHECK(!options.token.empty(), "a server without a token answers everybody");
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
  server.set_read_timeout(kPatience_s);
  server.set_write_timeout(kPatience_s);
  server.set_keep_alive_timeout(kIdle_s);
  // Replaces the library's default options, with which a second server could share the port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_payload_max_length(kLongestRequest);
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Content-Type-Options", "nosniff"}});
  Handlers handlers(study, options.token);
  handlers.add_to(server);
  const int port = options.port > 0 ? options.port : server.bind_to_any_port(options.host);
  if (port <= 0 || (options.port > 0 && !server.bind_to_port(options.host, port))) {
    throw Error(fmt::format("cannot listen on {}:{}; another program may use the port: choose "
                            "another one with --port, or a free one with --port 0",
                            options.host, options.port),
                ExitCode::failed);
  }
  listening(port);
  std::jthread watcher([&](const std::stop_token& ended) {
    // The server cannot be stopped before it runs.
    while (!ended.stop_requested()) {
      if (stop && server.is_running()) return server.stop();
      std::this_thread::sleep_for(kLook);
    }
  });
  server.listen_after_bind();
}

}  // namespace windtunnel
