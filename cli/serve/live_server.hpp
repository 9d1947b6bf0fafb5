// HTTP in front of a study that answers while one drags.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "report/live/live_study.hpp"

namespace windtunnel {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;       // 0: a free one
  std::string token;  // who does not say it is sent away
};

// 128 random bits of the system's as hexadecimal digits.
std::string random_token();

// Serves until `stop` is set, and finishes what it is answering. `listening` is told the port once
// connections are taken. What does not begin with the token, as `?token=` of the page and as
// `Authorization: Bearer` of its questions, gets 403 and nothing else.
//
//   GET  /          the page
//   POST /answer    {"set": {key: value}} to LiveStudy::answer()
//   POST /limits    the same to LiveStudy::limits()
//   POST /scenario  the same to LiveStudy::scenario_text(), as YAML
//
// Settings that cannot be get 422 and {"error": why, "keys": [...]}, what is no such request 400.
// Throws Error (failed) where the port cannot be had.
void serve(LiveStudy& study, const ServerOptions& options, const std::atomic<bool>& stop,
           const std::function<void(int port)>& listening);

}  // namespace windtunnel
