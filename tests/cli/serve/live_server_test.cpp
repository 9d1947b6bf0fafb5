#include "cli/serve/live_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>

#include "report/live/live_study.hpp"
#include "report/page/page.hpp"
#include "tests/report/browser.hpp"

namespace windtunnel {
namespace {

constexpr const char* kToken = "the-right-token";

LiveStudy& small_study() {
  static LiveStudy study(read_scenario(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml"), 2);
  return study;
}

class LiveServer : public testing::Test {
 protected:
  LiveServer() : thread_([this] { run(); }) { port_ = listening_.get_future().get(); }
  ~LiveServer() override { stop_ = true; }

  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(60);
    return client;
  }
  httplib::Result post(const std::string& path, const std::string& body,
                       const std::string& token = kToken) const {
    return client().Post(path.c_str(), {{"Authorization", "Bearer " + token}}, body,
                         "application/json");
  }
  // Opens a raw TCP connection and sends `bytes`.
  int connection(const std::string& bytes) const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    EXPECT_EQ(sent, std::ssize(bytes));
    return socket;
  }
  int port() const { return port_; }

 private:
  void run() {
    serve(small_study(), {.token = kToken}, stop_, [&](int port) { listening_.set_value(port); });
  }

  std::atomic<bool> stop_ = false;
  std::promise<int> listening_;
  int port_ = 0;
  std::jthread thread_;
};

TEST_F(LiveServer, AnswersWhatItsStudyDoes) {
  const auto answer = post("/answer", R"({"set": {"layout.tp": "4"}})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(Json::parse(answer->body), small_study().answer({{"layout.tp", "4"}}));
  EXPECT_EQ(Json::parse(post("/limits", R"({"set": {}})")->body), small_study().limits({}));
  EXPECT_EQ(post("/scenario", R"({"set": {"layout.tp": "4"}})")->body,
            small_study().scenario_text({{"layout.tp", "4"}}));
}

TEST_F(LiveServer, StrangersGetNothing) {
  for (const char* path :
       {"/", "/?token=", "/?token=the-right-tokem", "/?token=the-right-token2", "/?tokens=x"}) {
    const auto page = client().Get(path);
    EXPECT_EQ(page->status, 403) << path;
    EXPECT_EQ(page->body.find("small"), std::string::npos) << path;
  }
  for (const char* path : {"/answer", "/limits", "/scenario"}) {
    EXPECT_EQ(post(path, R"({"set": {}})", "other")->status, 403);
    EXPECT_EQ(client().Post(path, R"({"set": {}})", "application/json")->status, 403);
  }
  EXPECT_EQ(client().Get("/?token=the-right-token")->status, 200);
}

TEST_F(LiveServer, WrongRequestsAreSaidToBe) {
  for (const char* body : {"", "{", "[]", "{}", R"({"sets": {}})", "\xff\xfe"}) {
    EXPECT_EQ(post("/answer", body)->status, 400) << body;
  }
  for (const char* body :
       {R"({"set": []})", R"({"set": {"model": "gpt2"}})", R"({"set": {"layout.tp": 4}})",
        R"({"set": {"layout.pp": "16"}})", R"({"set": {"batch.micro": "16"}})"}) {
    const auto response = post("/answer", body);
    EXPECT_EQ(response->status, 422) << body;
    EXPECT_NE(Json::parse(response->body)["error"], "") << body;
  }
  EXPECT_EQ(client().Get("/other?token=the-right-token")->status, 404);
  const auto large = post("/answer", std::string(1 << 20, 'x'));
  // The server may also close the connection while the client still sends.
  EXPECT_TRUE(!large || large->status == 413);
}

// A request without a length, or in chunks, could evade the size limit, so that it is refused
// unread.
TEST_F(LiveServer, WhatHasNoLengthIsRefusedBeforeItIsRead) {
  for (const char* token : {kToken, "another-one"}) {
    const int socket = connection(
        fmt::format("POST /answer HTTP/1.1\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: "
                    "chunked\r\n\r\nffffff\r\nxxxx",
                    token));
    char answer[64] = {};
    EXPECT_GT(::recv(socket, answer, sizeof answer - 1, 0), 0);
    const char* status = token == std::string(kToken) ? "411" : "403";
    EXPECT_NE(std::string(answer).find(status), std::string::npos) << answer;
    ::close(socket);
  }
}

TEST_F(LiveServer, ASecondOneAtItsPortIsRefused) {
  const std::atomic<bool> stop = true;
  EXPECT_THROW(serve(small_study(), {.port = port(), .token = kToken}, stop, [](int) {}), Error);
}

// The server must still answer beside half requests, random bytes and silent connections.
TEST_F(LiveServer, AHundredConnectionsAndGarbageDoNotStopIt) {
  std::vector<int> open;
  std::mt19937 random(1);
  for (int i = 0; i < 120; ++i) {
    std::string bytes;
    if (i % 3 == 0) bytes = "POST /answer HTTP/1.1\r\nContent-Length: 100000\r\n\r\n{\"set";
    if (i % 3 == 1) {
      for (int n = 0; n < 400; ++n) bytes += static_cast<char>(random());
    }
    open.push_back(connection(bytes));
  }
  small_study().answer({});  // makes the study, so that only the connections are timed
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(post("/answer", R"({"set": {}})")->status, 200);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took, std::chrono::seconds(4)) << "it waited for the others' time to be up";
  for (const int socket : open) ::close(socket);
  EXPECT_EQ(post("/answer", R"({"set": {}})")->status, 200);
}

TEST(LiveServerPort, IsRefusedWhereAnotherHasIt) {
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::atomic<bool> stop = true;
  try {
    serve(small_study(), {.port = ntohs(address.sin_port), .token = kToken}, stop, [](int) {});
    ADD_FAILURE() << "it listens where another does";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::failed);
    EXPECT_NE(std::string(error.what()).find("cannot listen"), std::string::npos);
  }
  ::close(taken);
}

TEST(RandomToken, IsNewEachTime) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(random_token());
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_EQ(tokens.begin()->size(), 32U);
}

// This script drags controls again and again, as a user does, and records what the page then shows.
constexpr const char* kDrags = R"js(
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const answers = () => Number(document.body.dataset.answers ?? 0);
  const settled = async (before) => { while (answers() === before) await wait(2); };
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  (async () => {
    while (answers() === 0) await wait(2);
    const shown = [];
    for (let i = 0; i < DRAGS; ++i) {
      const inputs = [...document.querySelectorAll(".control input, .control select")];
      const input = inputs[random(inputs.length)];
      const last = input.tagName === "SELECT" ? input.options.length - 1 : Number(input.max);
      const before = answers();
      const begin = performance.now();
      const from = input.value;
      input.value = String(random(last + 1));
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await settled(before);
      const fault = document.querySelector(".live-status.fault")?.textContent ?? null;
      shown.push({
        took: performance.now() - begin,
        address: document.body.dataset.settings,
        fault,
        figures: [...document.querySelectorAll(".state .figures dd")].map((e) => e.textContent),
      });
      if (fault) {  // back to a valid value
        const refused = answers();
        input.value = from;
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await settled(refused);
      }
    }
    await fetch("/done", { method: "POST", body: JSON.stringify(shown) });
  })();
)js";

// Once the page of a frame has answered, this script lists the page's faults, with one state and
// with two.
constexpr const char* kFrames = R"js(
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  (async () => {
    const found = [];
    for (const frame of document.querySelectorAll("iframe")) {
      const body = () => frame.contentWindow.document.body; // another one once it has loaded
      while (Number(body()?.dataset.answers ?? 0) === 0) await wait(10);
      await wait(400); // what is below the screen
      const printed = frame.className === "paper";
      const faults = faultsOf(frame.contentWindow, Number(frame.width), printed);
      const kept = frame.src.includes("kept") ? 2 : 1;
      const states = body().querySelectorAll(".state").length;
      if (states !== kept) faults.push(`${states} states`);
      for (const table of body().querySelectorAll(".state .scroll > table")) {
        if (table.querySelector("td") && !table.closest(".scroll").hasAttribute("aria-label")) {
          faults.push("a table that cannot be taken away");
        }
      }
      if (!body().querySelector(".state .term")) faults.push("no word is explained");
      found.push({ frame: `${frame.width} ${frame.className}`, faults });
    }
    await fetch("/done", { method: "POST", body: JSON.stringify(found) });
  })();
)js";

std::string frames_page() {
  std::ifstream probe(WINDTUNNEL_SOURCE_DIR "/tests/report/page_faults.js");
  const std::string faults{std::istreambuf_iterator<char>(probe), {}};
  std::string page = "<!DOCTYPE html><html><body>";
  for (const auto& [width, mode, state] :
       {std::tuple{1440, "light", "#layout.tp=4&kept=layout.tp%3D1"},
        {1024, "dark", "#kept="},
        {420, "light", "#recovery.spares=3"},
        {420, "dark", "#layout.tp=4&kept="},
        {700, "paper", "#layout.tp=4&kept="}}) {
    page += fmt::format(
        "<iframe class=\"{}\" width=\"{}\" height=\"900\" style=\"border: 0; color-scheme: {}\" "
        "src=\"/live?token={}{}\"></iframe>",
        mode, width, std::string_view(mode) == "paper" ? "dark" : mode, kToken, state);
  }
  return page + "<script>" + faults + kFrames + "</script></body></html>";
}

std::string dragged_page(int drags) {
  std::string page = live_page(small_study());
  page.insert(page.rfind("</body>"),
              fmt::format("<script>const DRAGS = {};{}</script>", drags, kDrags));
  return page;
}

// Runs `page` in the browser and returns what the page's script reports at its end. A server in
// between gives the browser the page and passes the page's requests on to `port`.
Json said_in_chromium(const std::string& page, int port, const std::string& program) {
  httplib::Server front;
  std::promise<Json> done;
  front.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(page, "text/html; charset=utf-8");
  });
  front.Get("/live", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(live_page(small_study()), "text/html; charset=utf-8");
  });
  front.Post("/done", [&](const httplib::Request& request, httplib::Response&) {
    done.set_value(Json::parse(request.body));
  });
  front.Post(".*", [&](const httplib::Request& request, httplib::Response& response) {
    httplib::Client behind("127.0.0.1", port);
    behind.set_read_timeout(60);
    const auto answer = behind.Post(request.path.c_str(),
                                    {{"Authorization", request.get_header_value("Authorization")}},
                                    request.body, "application/json");
    response.status = answer ? answer->status : 502;
    if (answer) response.set_content(answer->body, "application/json");
  });
  const int front_port = front.bind_to_any_port("127.0.0.1");
  const std::jthread thread([&] { front.listen_after_bind(); });
  const std::filesystem::path profile =
      std::filesystem::temp_directory_path() / fmt::format("windtunnel-live-{}", ::getpid());
  const pid_t browser = ::fork();
  if (browser == 0) {
    // The browser runs in a process group of its own, by which its children are killed. It holds
    // none of this test's streams, because CTest waits until no process can write to them.
    ::setpgid(0, 0);
    const std::string data = "--user-data-dir=" + profile.string();
    const std::string address = fmt::format("http://127.0.0.1:{}/?token={}", front_port, kToken);
    (void)::freopen("/dev/null", "w", stdout);
    (void)::freopen("/dev/null", "w", stderr);
    ::execl(program.c_str(), program.c_str(), "--no-sandbox", "--disable-gpu",
            "--disable-background-networking", "--remote-debugging-port=0", data.c_str(),
            address.c_str(), nullptr);
    ::_exit(127);
  }
  std::future<Json> shown = done.get_future();
  const bool ended = shown.wait_for(std::chrono::seconds(120)) == std::future_status::ready;
  ::kill(-browser, SIGKILL);
  ::waitpid(browser, nullptr, 0);
  front.stop();
  std::error_code ignored;  // the browser's children may still write
  std::filesystem::remove_all(profile, ignored);
  return ended ? shown.get() : Json::array();
}

// Returns whether there are at least two cores, and all cores together are idle for 90 % of half a
// second.
bool cores_are_idle() {
  const auto times = [] {
    std::ifstream stat("/proc/stat");
    std::string name;
    stat >> name;
    std::pair<double, double> sums;  // ticks in all, idle ticks
    double ticks = 0;
    for (int column = 0; column < 8 && stat >> ticks; ++column) {
      sums.first += ticks;
      if (column == 3 || column == 4) sums.second += ticks;  // idle or iowait
    }
    return sums;
  };
  const auto before = times();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto after = times();
  return std::thread::hardware_concurrency() >= 2 &&
         after.second - before.second > 0.9 * (after.first - before.first);
}

class LiveBrowser : public LiveServer {
 protected:
  void SetUp() override {
    program_ = chromium_program();
    if (program_.empty()) GTEST_SKIP() << "chromium-headless-shell is not installed";
  }

  // Expects that every state that the page shows has the figures of `windtunnel run` with its
  // settings. `within_ms` bounds the median response time; it counts only where two cores are idle.
  void drag(int drags, double within_ms = 0) {
    const bool quiet = cores_are_idle();
    const Json shown = said_in_chromium(dragged_page(drags), port(), program_);
    ASSERT_EQ(shown.size(), drags);
    std::vector<double> took_ms;
    int answered = 0;
    for (const Json& state : shown) {
      took_ms.push_back(state["took"]);
      httplib::Params settings;
      httplib::detail::parse_query_text(state["address"], settings);
      const Overrides set(settings.begin(), settings.end());
      try {
        const Record record =
            simulate(load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml", set), {.threads = 2});
        std::vector<std::string> figures;
        for (const SummaryRow& row : summarise(record).figures) {
          figures.push_back(row.value + row.detail);
        }
        EXPECT_EQ(state["figures"], Json(figures)) << state["address"];
        EXPECT_TRUE(state["fault"].is_null()) << state["fault"];
        ++answered;
      } catch (const Error& error) {
        EXPECT_FALSE(state["fault"].is_null()) << error.what();
      }
    }
    EXPECT_GT(answered, drags / 3);
    std::ranges::sort(took_ms);
    const double median_ms = took_ms[took_ms.size() / 2];
    std::printf("%d drags, %d of states that can be: median %.0f ms, slowest %.0f ms%s\n", drags,
                answered, median_ms, took_ms.back(),
                quiet ? "" : ", on a machine that others use, too");
    if (within_ms > 0 && quiet) {
      EXPECT_LE(median_ms, within_ms);
    }
  }

  // Expects that every control works by keyboard, and that nothing is off screen, overlapping, cut
  // off or hard to read.
  void expect_fits() {
    const Json found = said_in_chromium(frames_page(), port(), program_);
    ASSERT_EQ(found.size(), 5U);
    for (const Json& frame : found) EXPECT_EQ(frame["faults"], Json::array()) << frame["frame"];
  }

 private:
  std::string program_;
};

TEST_F(LiveBrowser, ShowsWhatRunSays) {
  drag(8);
}

TEST_F(LiveBrowser, FortyDragsLong) {
  drag(40, 300);
}

TEST_F(LiveBrowser, FitsEveryScreenWithOneStateAndTwo) {
  expect_fits();
}

}  // namespace
}  // namespace windtunnel
