// Starts and ends the command as a user does.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using nlohmann::json;

constexpr const char* kToken = "a-token-of-mine";

// Runs `serve`, which prints its address on its first line.
class Served {
 public:
  // Starts the command with a scenario, an option and its value.
  explicit Served(const char* scenario = "scenarios/small.yaml", const char* option = "-j",
                  const char* value = "1") {
    int ends[2] = {};
    EXPECT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      if (chdir(WINDTUNNEL_SOURCE_DIR) != 0) _exit(127);
      execl(WINDTUNNEL_PROGRAM, WINDTUNNEL_PROGRAM, "serve", scenario, "--port", "0", "--token",
            kToken, "--quiet", option, value, nullptr);
      _exit(127);
    }
    close(ends[1]);
    for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) address_ += c;
    close(ends[0]);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    if (child_ > 0) end(SIGKILL);
  }

  const std::string& address() const { return address_; }
  int port() const { return std::stoi(address_.substr(std::string("http://127.0.0.1:").size())); }
  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port());
    client.set_read_timeout(60);
    return client;
  }

  // Sends the signal and returns the exit code; -1 if the process still runs after ten seconds.
  int end(int signal) {
    kill(child_, signal);
    for (int i = 0; i < 1000; ++i) {
      int status = 0;
      if (waitpid(child_, &status, WNOHANG) == child_) {
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1;
  }

 private:
  pid_t child_ = -1;
  std::string address_;
};

TEST(Serve, AnswersAtTheAddressThatItPrintsUntilItIsInterrupted) {
  Served served;
  ASSERT_EQ(served.address(), fmt::format("http://127.0.0.1:{}/?token={}", served.port(), kToken));
  const auto page = served.client().Get(fmt::format("/?token={}", kToken).c_str());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_NE(page->body.find("<title>small"), std::string::npos);
  EXPECT_EQ(served.client().Get("/")->status, 403) << "without the token";
  const httplib::Headers headers = {{"Authorization", fmt::format("Bearer {}", kToken)}};
  const auto answer = served.client().Post("/answer", headers, R"({"set": {"layout.tp": "4"}})",
                                           "application/json");
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->status, 200) << answer->body;
  const ProgramResult run = run_program("run scenarios/small.yaml --set layout.tp=4 --json -j 1");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json served_s = json::parse(answer->body).at("record").at("result").at("iteration");
  EXPECT_EQ(served_s.at("time_s"), json::parse(run.out).at("iteration").at("time_s"));
  EXPECT_EQ(served.end(SIGINT), 0) << "Ctrl-C ends it";
}

TEST(Serve, EndsWhenItIsToldTo) {
  Served served;
  ASSERT_NE(served.address(), "");
  EXPECT_EQ(served.end(SIGTERM), 0);
}

TEST(Serve, SaysWhereAPortIsTaken) {
  const Served served;
  const ProgramResult second =
      run_program(fmt::format("serve scenarios/small.yaml --port {}", served.port()));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.out, "");
  EXPECT_NE(second.err.find(fmt::format("cannot listen on 127.0.0.1:{}", served.port())),
            std::string::npos)
      << second.err;
}

TEST(Serve, RefusesWhatCannotBe) {
  for (const auto& [arguments, said] : {
           std::pair{"serve --port 70000", "--port"},
           {"serve --port x", "--port"},
           {"serve --token short", "at least eight characters"},
           {"serve --token 'with a space'", "at least eight characters"},
           {"serve -j 0", "-j"},
           {"serve scenarios/missing.yaml", "missing.yaml"},
           {"serve scenarios/small.yaml --set layout.tq=2", "did you mean 'tp'"},
           {"serve scenarios/small.yaml --set layout.pp=16", "layout"},
           {"serve scenarios/company/company.yaml", "several jobs"},
       }) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.err;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_NE(result.err.find(said), std::string::npos) << arguments << "\n" << result.err;
  }
}

TEST(ServeCommand, TakesTheConfigurationOfATrainingProgram) {
  Served served("examples/configurations/llama3-70b.sh", "--set", "cluster.node=dgx-h100");
  httplib::Client client = served.client();
  const auto text = client.Post("/scenario", {{"Authorization", std::string("Bearer ") + kToken}},
                                json{{"set", json::object()}}.dump(), "application/json");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->status, 200) << text->body;
  EXPECT_NE(text->body.find("interleaved-1f1b"), std::string::npos) << text->body;
}

}  // namespace
}  // namespace windtunnel
