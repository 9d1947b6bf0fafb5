// An HTTP server for an interactive study (`windtunnel serve`).
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "report/live/live_study.hpp"

namespace windtunnel {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;       // 0: a free one
  std::string token;  // required in every request
};

// Returns 128 random bits from the system as hexadecimal digits.
std::string random_token();

// Serves until `stop` is set, then completes answers in progress. Calls `listening` with the port
// once it accepts connections. A request without the token gets 403 and nothing else. The page is
// requested with `?token=`, and its script sends `Authorization: Bearer`.
//
//   GET  /          the page
//   POST /answer    {"set": {key: value}} to LiveStudy::answer()
//   POST /limits    the same to LiveStudy::limits()
//   POST /scenario  the same to LiveStudy::scenario_text(), as YAML
//
// Invalid settings get 422 and {"error": why, "keys": [...]}; a malformed request gets 400. Throws
// Error (failed) if the port is not available.
void serve(LiveStudy& study, const ServerOptions& options, const std::atomic<bool>& stop,
           const std::function<void(int port)>& listening);

}  // namespace windtunnel
