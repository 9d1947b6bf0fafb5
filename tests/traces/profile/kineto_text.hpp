// Builds pieces of Kineto traces and reads profiles from text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/error_of.hpp"
#include "traces/profile/profile_reader.hpp"

namespace windtunnel {

inline std::string written_trace(const std::string& bytes, const std::string& name = "t.json") {
  const std::string path =
      fmt::format("{}windtunnel-kineto-{}-{}", ::testing::TempDir(), getpid(), name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline RankProfile read_text(const std::string& text) {
  const std::string path = written_trace(text);
  RankProfile profile = read_kineto(path);
  std::filesystem::remove(path);
  return profile;
}

// Returns the message of reading the text, without the file's folder.
inline std::string reading_fault(const std::string& text) {
  const std::string path = written_trace(text);
  std::string error = error_of([&] { read_kineto(path); });
  std::filesystem::remove(path);
  const std::size_t at = error.find(path);
  return at == std::string::npos ? error : error.substr(at + path.size());
}

// Returns a trace of these events, separated by commas.
inline std::string trace_text(const std::string& events, const std::string& more = "") {
  return "{\"schemaVersion\": 1,\n" + more + "\"traceEvents\": [\n" + events + "\n]}\n";
}

inline std::string event_text(const std::string& category, const std::string& name, double ts,
                              double dur, const std::string& arguments = "") {
  return fmt::format(
      "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 0, \"tid\": 7, \"ts\": {}, "
      "\"dur\": {}, \"args\": {{{}}}}}",
      category, name, ts, dur, arguments);
}

}  // namespace windtunnel
