#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/traces/profile/kineto_text.hpp"
#include "tests/traces/profile/made_kineto.hpp"
#include "traces/profile/profile_events.hpp"
#include "traces/profile/profile_reader.hpp"

namespace windtunnel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string packed(const std::string& bytes) {
  const std::string path = written_trace("", "packed.json.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  std::string read{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  return read;
}

std::string kernel(double ts = 10, double dur = 5) {
  return event_text("kernel", "gemm", ts, dur, "\"stream\": 7, \"correlation\": 3, \"device\": 0");
}

TEST(Kineto, KernelsMeetTheirLaunchesInAnyOrder) {
  const std::string launch =
      event_text("cuda_runtime", "cudaLaunchKernel", 4, 2, "\"correlation\": 3");
  for (const std::string& events : {launch + "," + kernel(), kernel() + "," + launch}) {
    const RankProfile profile = read_text(trace_text(events));
    ASSERT_EQ(profile.work.size(), 1u);
    EXPECT_DOUBLE_EQ(profile.work[0].launched_s, 0);  // time 0 is the file's first event
    EXPECT_DOUBLE_EQ(profile.work[0].start_s, 6e-6);
    EXPECT_DOUBLE_EQ(profile.work[0].end_s, 11e-6);
    EXPECT_EQ(profile.work[0].kind, WorkKind::product);
    EXPECT_EQ(profile.work[0].stream, 7);
  }
  EXPECT_EQ(read_text(trace_text(kernel())).work[0].launched_s, kNotLaunched);
}

TEST(Kineto, CollectivesHaveTheirSizesAndGroups) {
  const std::string arguments =
      R"("stream": 22, "correlation": 9, "Collective name": "_allgather_base", "In msg nelems": 100,
      "Out msg nelems": 400, "Group size": 4, "dtype": "BFloat16", "Process Group Name": "3",
      "Process Group Description": "dp", "Process Group Ranks": "[0, 2, 4, 6]")";
  const RankProfile profile = read_text(trace_text(
      event_text("kernel", "ncclDevKernel_AllGather_RING_LL", 1, 2, arguments) + "," + kernel(),
      R"("distributedInfo": {"backend": "nccl", "rank": 2, "world_size": 8},
      "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}, {"id": 1, "name": "other"}],)"));
  EXPECT_EQ(profile.rank, 2);
  EXPECT_EQ(profile.ranks, 8);
  EXPECT_EQ(profile.gpu, "NVIDIA H100");
  ASSERT_EQ(profile.calls.size(), 1u);
  EXPECT_EQ(profile.calls[0],
            (CommunicationCall{CallKind::collective, CollectiveKind::all_gather, 800, "3", 4, -1}));
  ASSERT_EQ(profile.groups.size(), 1u);
  EXPECT_EQ(profile.groups[0].axis, "dp");
  EXPECT_THAT(profile.groups[0].ranks, ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(profile.work[0].call, 0);
  EXPECT_EQ(profile.work[1].call, -1);
}

TEST(Kineto, ACutListOfRanksIsNoList) {
  const std::string arguments =
      R"("Collective name": "allreduce", "In msg nelems": 1, "dtype": "Float",
      "Process Group Name": "1", "Process Group Ranks": "[0, 1, ...]")";
  const RankProfile profile =
      read_text(trace_text(event_text("kernel", "ncclDevKernel_AllReduce", 1, 2, arguments)));
  ASSERT_EQ(profile.groups.size(), 1u);
  EXPECT_TRUE(profile.groups[0].ranks.empty());
}

TEST(Kineto, MessagesHaveTheirPeer) {
  const auto message = [](const char* name) {
    return event_text("kernel", "ncclDevKernel_SendRecv", 1, 2,
                      fmt::format(R"("Collective name": "{}", "In msg nelems": 8, "dtype": "Half",
                      "Src Rank": 1, "Dst Rank": 5)",
                                  name));
  };
  const RankProfile profile = read_text(trace_text(message("send") + "," + message("recv")));
  ASSERT_EQ(profile.calls.size(), 2u);
  EXPECT_EQ(profile.calls[0].peer, 5);
  EXPECT_EQ(profile.calls[1].peer, 1);
  EXPECT_EQ(profile.calls[1].bytes, 16);
}

// PyTorch runs messages that are passed together as one kernel, and the kernel's name does not say
// which messages it sends. The host's calls before its launch say so.
TEST(Kineto, MessagesOfOneKernelAreThoseThatTheHostAskedFor) {
  const auto asked = [](const char* name, double ts, int peer) {
    return event_text("cpu_op", "record_param_comms", ts, 1,
                      fmt::format(R"("Collective name": "{0}", "In msg nelems": 8, "dtype": "Half",
                      "Group size": 2, "{1} Rank": {2}, "Process Group Name": "0")",
                                  name, name[0] == 's' ? "Dst" : "Src", peer));
  };
  const auto launched = [](double ts, int correlation) {
    return event_text("cuda_driver", "cuLaunchKernelEx", ts, 1,
                      fmt::format(R"("correlation": {})", correlation)) +
           "," +
           event_text("kernel", "ncclDevKernel_SendRecv", ts + 10, 5,
                      fmt::format(R"("stream": 16, "correlation": {})", correlation));
  };
  const RankProfile profile = read_text(
      trace_text(asked("send", 1, 1) + "," + launched(2, 20) + "," + asked("wait", 3, 0) + "," +
                 asked("send", 4, 1) + "," + asked("recv", 5, 0) + "," + launched(6, 21) + "," +
                 launched(50, 22) + "," + asked("recv", 70, 1) + "," + launched(70, 23)));
  ASSERT_EQ(profile.work.size(), 4u);
  const auto call = [&](std::size_t i) {
    return profile.calls.at(static_cast<std::size_t>(profile.work[i].call));
  };
  EXPECT_EQ(call(0).kind, CallKind::send);
  EXPECT_EQ(call(0).peer, 1);
  EXPECT_TRUE(call(0).beside.empty());
  EXPECT_EQ(call(1).kind, CallKind::send);
  ASSERT_EQ(call(1).beside.size(), 1u);
  EXPECT_EQ(call(1).beside[0].kind, CallKind::receive);
  EXPECT_EQ(call(1).beside[0].peer, 0);
  EXPECT_EQ(call(1).beside[0].bytes, 16);
  EXPECT_EQ(profile.work[2].call, -1);         // the host called nothing for it
  EXPECT_EQ(call(3).kind, CallKind::receive);  // called in the microsecond of its launch
}

// A barrier's tensor has one element only because a collective must reduce something.
TEST(Kineto, ABarrierSendsNothing) {
  const RankProfile profile = read_text(trace_text(event_text(
      "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 2,
      R"("stream": 22, "correlation": 9, "Collective name": "barrier", "In msg nelems": 1,
      "Out msg nelems": 1, "Group size": 4, "dtype": "Float", "Process Group Name": "3")")));
  ASSERT_EQ(profile.calls.size(), 1u);
  EXPECT_EQ(profile.calls[0].bytes, 0);
  EXPECT_EQ(profile.calls[0].collective, CollectiveKind::all_reduce);
}

// A call in a group of one rank launches no kernel; the next kernel's name shows which call it
// belongs to.
TEST(Kineto, ACallWithoutAKernelIsNotTheNextOnes) {
  const auto asked = [](const char* name, double ts, int ranks) {
    return event_text("cpu_op", "record_param_comms", ts, 1,
                      fmt::format(R"("Collective name": "{}", "In msg nelems": 8, "dtype": "Half",
                      "Group size": {}, "Process Group Name": "0")",
                                  name, ranks));
  };
  const RankProfile profile = read_text(
      trace_text(asked("allgather", 1, 1) + "," + asked("reduce_scatter", 2, 2) + "," +
                 asked("allreduce", 3, 2) + "," +
                 event_text("cuda_driver", "cuLaunchKernelEx", 4, 1, R"("correlation": 20)") + "," +
                 event_text("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 9, 5,
                            R"("stream": 16, "correlation": 20)")));
  ASSERT_EQ(profile.work.size(), 1u);
  const auto& call = profile.calls.at(static_cast<std::size_t>(profile.work[0].call));
  EXPECT_EQ(call.collective, CollectiveKind::all_reduce);
  EXPECT_EQ(call.bytes, 16);
}

TEST(Kineto, WhatEarlierVersionsWriteIsRead) {
  const std::string events =
      R"({"ph": "X", "cat": "Kernel", "name": "gemm", "ts": 1661938466265032, "dur": 9,
      "args": {"stream": "7", "correlation": "12"}}, {"ph": "X", "cat": "Runtime",
      "name": "cudaLaunchKernel", "ts": 1661938466265030, "dur": 1,
      "args": {"correlation": "12"}})";
  const RankProfile profile = read_text("[" + events + "]");  // a list without the enclosing object
  ASSERT_EQ(profile.work.size(), 1u);
  EXPECT_EQ(profile.work[0].stream, 7);
  EXPECT_NEAR(profile.work[0].start_s - profile.work[0].launched_s, 2e-6, 1e-9);
}

TEST(Kineto, StepsOfTheHostComeFirst) {
  const std::string on_host = event_text("user_annotation", "ProfilerStep#3", 1, 8);
  const std::string on_gpu = event_text("gpu_user_annotation", "ProfilerStep#3", 10, 6);
  const std::string other = event_text("user_annotation", "Optimizer.step#Adam.step", 2, 3);
  const RankProfile both =
      read_text(trace_text(on_gpu + "," + on_host + "," + other + "," + kernel()));
  ASSERT_EQ(both.steps.size(), 1u);
  EXPECT_DOUBLE_EQ(both.steps[0].start_s, 0);
  EXPECT_EQ(read_text(trace_text(on_gpu + "," + kernel())).steps.size(), 1u);
}

TEST(Kineto, PackedFilesOfSeveralMembersAreRead) {
  const std::string text = made_kineto({.tp = 2, .steps = 2});
  const RankProfile plain = read_text(text);
  const std::string halves = packed(text.substr(0, 5000)) + packed(text.substr(5000));
  for (const std::string& bytes : {packed(text), halves}) {
    const RankProfile profile = read_text(bytes);
    EXPECT_EQ(profile.work.size(), plain.work.size());
    EXPECT_EQ(profile.work.back().end_s, plain.work.back().end_s);
  }
}

TEST(Kineto, WithoutTheHostsEventsTheGpuDidTheSame) {
  const RankProfile with = read_text(made_kineto({.tp = 2, .steps = 2, .with_host = true}));
  const RankProfile without = read_text(made_kineto({.tp = 2, .steps = 2, .with_host = false}));
  ASSERT_EQ(with.work.size(), without.work.size());
  EXPECT_EQ(with.work.back().end_s, without.work.back().end_s);
}

// Each file is refused in words, with its place.
TEST(KinetoErrors, HostileFilesAreRefusedInWords) {
  const std::string ok = kernel();
  const std::string broken = "the JSON is broken here";
  const auto event = [](const std::string& fields) {
    return trace_text(R"({"ph": "X", "cat": "kernel", "name": "k", )" + fields + "}");
  };
  const auto info = [&](const std::string& fields) {
    return trace_text(ok, "\"distributedInfo\": {" + fields + "},");
  };
  const std::string whole = packed(trace_text(ok));
  std::string flipped = packed(made_kineto({.steps = 1}));
  flipped[flipped.size() / 2] ^= 0x5a;
  const std::pair<std::string, std::string> cases[] = {
      {"", broken},
      {" ", broken},
      {"\n\n{", ":3:2: " + broken},
      {"{}", "has no list 'traceEvents'"},
      {"[]", "contains no work of a GPU; let the profiler"},
      {"null", "has no list 'traceEvents'"},
      {"true", "has no list 'traceEvents'"},
      {"7", "a number is not a trace"},
      {"\"text\"", "has no list 'traceEvents'"},
      {"{\"traceEvents\": 7}", "has no list 'traceEvents'"},
      {"{\"traceEvents\": {}}", "has no list 'traceEvents'"},
      {"{\"traceEvents\": []}", "contains no work of a GPU; let the profiler"},
      {"{\"traceEvents\": [1, 2]}", "contains no work of a GPU; let the profiler"},
      {"{\"traceEvents\": [[]]}", "contains no work of a GPU; let the profiler"},
      {trace_text(event_text("cpu_op", "aten::mm", 1, 2)),
       "contains no work of a GPU; let the profiler"},
      {trace_text(ok).substr(0, 40), broken},
      {trace_text(ok).substr(0, trace_text(ok).size() - 3), broken},
      {trace_text(ok) + "x", broken},
      {trace_text(ok + ","), broken},
      {trace_text(ok + " " + ok), broken},
      {event("\"ts\": NaN, \"dur\": 1"), ":3:49: " + broken},
      {event("\"ts\": 1, \"dur\": Infinity"), broken},
      {event("\"ts\": 1, \"dur\": -Infinity"), broken},
      {event("\"ts\": 1e999, \"dur\": 1"), "a number is too large"},
      {event("\"ts\": 1, \"dur\": -5"), ":3:61: 'dur' is -5 microseconds"},
      {event("\"ts\": 1, \"dur\": 1e300"), "'dur' is 1e+300 microseconds"},
      {event("\"ts\": \"1\", \"dur\": 1"), "'ts' is a text, not a number"},
      {event("\"ts\": 1, \"dur\": \"x\""), "'dur' is a text, not a number"},
      {event("\"ts\": true, \"dur\": 1"), "'ts' is true or false"},
      {event("\"dur\": 1"), "has no 'ts'"},
      {event("\"ts\": null, \"dur\": 1"), "has no 'ts'"},
      {event("\"ts\": 01, \"dur\": 1"), broken},
      {event("\"ts\": 1.2.3, \"dur\": 1"), broken},
      {event("\"ts\": +1, \"dur\": 1"), broken},
      {event("'ts': 1"), broken},
      {trace_text(R"({"ph": "X", "cat": "kernel", "name": 7, "ts": 1})"),
       "'name' is 7, not a text"},
      {trace_text(R"({"ph": 1, "cat": "kernel", "name": "k", "ts": 1})"), "'ph' is 1, not a text"},
      {trace_text(R"({"ph": "X", "cat": 3, "name": "k", "ts": 1})"), "'cat' is 3, not a text"},
      {trace_text(R"({"ph": "X", "cat": "kernel", "name": ")" + std::string("\xc3\x28") + "\"}"),
       broken},
      {trace_text(std::string("{\"ph\": \"\x01\"}")), broken},
      {trace_text(R"({"ph": "\x"})"), broken},
      {trace_text(R"({"ph": "\ud800"})"), broken},
      {std::string("\0\0\0\0", 4), broken},
      {"\xef\xbb\xbf" + std::string(1, '\x01'), broken},
      {std::string(5000, '['), "lists are nested too deeply, 1000 levels"},
      {"{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}",
       "lists are nested too deeply, 1000 levels"},
      {info("\"rank\": -1"), "'rank' is -1"},
      {info("\"rank\": 1.5"), "'rank' is 1.5"},
      {info("\"rank\": \"0\""), "'rank' is a text, not a number"},
      {info("\"rank\": 0, \"world_size\": 99999999999"), "'world_size' is 99999999999"},
      {info("\"pg_config\": [{\"pg_name\": \"1\", \"ranks\": [0, -4]}]"), "-4, no rank"},
      {info("\"pg_config\": [{\"pg_name\": \"1\", \"ranks\": [0, 1e30]}]"), "1e+30, no rank"},
      {trace_text(ok + "," + event_text("kernel", "k", 20, 1, "\"device\": 1")),
       "work of both GPU 0 and GPU 1"},
      {whole.substr(0, whole.size() / 2), "the gzip stream is cut off"},
      {whole.substr(0, whole.size() - 4), "the gzip stream is cut off"},
      {flipped, "unpacking failed after"},
      {std::string("\x1f\x8b\x08\x00garbage!garbage", 19), "unpacking failed after"},
      {packed("{\"a\": \"" + std::string(80'000'000, 'x') + "\"}"),
       "67.1 MB of a single text, number or blanks"},
      {packed(std::string(80'000'000, ' ')), "67.1 MB of a single text, number or blanks"},
      {packed("{\"a\": 1" + std::string(80'000'000, '0') + "}"),
       "67.1 MB of a single text, number or blanks"},
      {packed(packed(trace_text(ok))), broken},
  };
  EXPECT_GE(std::size(cases), 50u);
  for (const auto& [bytes, message] : cases) {
    EXPECT_THAT(reading_fault(bytes), HasSubstr(message)) << bytes.substr(0, 200);
  }
  EXPECT_THAT(error_of([] { read_kineto("/nowhere/t.json"); }),
              StartsWith("/nowhere/t.json: cannot be read: No such file"));
  EXPECT_THAT(error_of([] { read_kineto(::testing::TempDir()); }), HasSubstr("is a folder"));
}

TEST(KinetoErrors, APlaceIsOfItsLineBehindManyBlocks) {
  std::string events;
  for (int i = 0; i < 20'000; ++i) events += kernel(i) + ",\n";
  const std::string text = trace_text(events + event_text("kernel", "k", 1, -1));
  ASSERT_GT(text.size(), std::size_t{2} << 20U);
  EXPECT_THAT(reading_fault(text), StartsWith(":20003:"));
}

// A small file may unpack to any number of launches and groups.
TEST(KinetoErrors, LaunchesAndGroupsAreCounted) {
  ProfileMaker launches;
  ProfileEvent launch;
  launch.complete = true;
  launch.kind = EventKind::launch;
  launch.start_us = 1;
  launch.correlation = 1;
  EXPECT_THAT(error_of([&] {
                for (int i = 0; i <= 20'000'000; ++i) launches.add(launch);
              }),
              HasSubstr("more than 20000000 launches"));
  ProfileMaker groups;
  const std::vector<RankId> ranks(1'000'000);
  EXPECT_THAT(error_of([&] {
                for (int i = 0; i < 100; ++i) groups.add_group({std::to_string(i), "", ranks, 0});
              }),
              HasSubstr("process groups beyond 256 MB"));
}

}  // namespace
}  // namespace windtunnel
