#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string_view>

#include "policies/evaluation/schedule_lowering.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/error_of.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

std::string data_file(const std::string& name) {
  return fmt::format("{}/tests/data/{}.csv", WINDTUNNEL_SOURCE_DIR, name);
}

void expect_same(const Schedule& a, const Schedule& b, const std::string& what) {
  EXPECT_EQ(a.ranks, b.ranks) << what;
  EXPECT_EQ(a.chunks, b.chunks) << what;
  EXPECT_EQ(a.microbatches, b.microbatches) << what;
  EXPECT_EQ(a.directions, b.directions) << what;
  EXPECT_EQ(a.slices, b.slices) << what;
  EXPECT_EQ(a.iterations, b.iterations) << what;
  EXPECT_EQ(a.explicit_recompute, b.explicit_recompute) << what;
  EXPECT_EQ(a.slice_shares, b.slice_shares) << what;
  EXPECT_EQ(a.weight_copies, b.weight_copies) << what;
  EXPECT_EQ(a.rank_of_stage, b.rank_of_stage) << what;
  EXPECT_TRUE(a.actions == b.actions) << what;
}

// Returns schedules of the kind for some of the numbers that it allows.
std::vector<Schedule> schedules_of(const ScheduleKind& kind) {
  std::vector<Schedule> schedules;
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    ScheduleRequest request;
    request.ranks = static_cast<int>(1 + random() % 8);
    request.microbatches = static_cast<int>(1 + random() % 24);
    request.chunks = i % 4 == 0 ? static_cast<int>(1 + random() % 4) : kind.usual_chunks;
    request.slices = i % 2 == 0 ? static_cast<int>(1 + random() % 3) : 1;
    try {
      schedules.push_back(generate_schedule(kind.name, request));
    } catch (const Error& error) {
      // The kind forbids these numbers.
    }
  }
  return schedules;
}

TEST(TorchSchedule, WhatIsWrittenIsReadBack) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    const std::vector<Schedule> schedules = schedules_of(kind);
    EXPECT_GE(schedules.size(), 3u) << kind.name;
    for (const Schedule& schedule : schedules) {
      const std::string what = fmt::format("{} p {} m {} v {} slices {}", kind.name, schedule.ranks,
                                           schedule.microbatches, schedule.chunks, schedule.slices);
      for (const bool extended : {false, true}) {
        if (!extended && !needed_extension(schedule).empty()) continue;
        const TorchSchedule read =
            parse_torch_schedule(torch_schedule_text(schedule, extended), "a/file.csv");
        EXPECT_EQ(read.schedule.name, "file");
        EXPECT_FALSE(read.messages) << what;
        expect_same(read.schedule, schedule, what);
      }
      const Schedule with_all = lowered(schedule, {.sharded = true});
      const TorchSchedule read =
          parse_torch_schedule(torch_schedule_text(with_all, true), "file.csv");
      EXPECT_TRUE(read.messages) << what;
      expect_same(read.schedule, with_all, what);
      expect_same(compute_only(read.schedule), schedule, what);
    }
  }
}

TEST(TorchSchedule, WithoutTheExtensionWhatNeedsItIsRefused) {
  for (const std::string name : {"chimera", "dualpipe", "seq1f1b", "pipedream-2bw"}) {
    ScheduleRequest request{.ranks = 4, .microbatches = 8};
    if (name == "seq1f1b") request.slices = 2;
    const Schedule schedule = generate_schedule(name, request);
    for (const std::string& why : {std::string("--extended"), needed_extension(schedule)}) {
      EXPECT_TRUE(fails([&] { torch_schedule_text(schedule); }, why));
    }
  }
}

// A rank that waits has an empty cell. PyTorch's runtime goes column by column, so every result
// must be in an earlier column than its use.
TEST(TorchSchedule, ComputeIsLaidOutInTimeSteps) {
  EXPECT_EQ(torch_schedule_text(generate_schedule("1f1b", 2, 2, 1)),
            "0F0,0F1,,0B0,,0B1\r\n,1F0,1B0,1F1,1B1\r\n");
}

TEST(TorchSchedule, TheExtensionNamesReplicaIterationAndSlice) {
  const std::string text =
      "0F0.0,1@1F1,0F0.1,0R0.1,0B0.1,0R0.0,0B0.0,1@1F1.1,1@1R1.1,1@1B1.1,1@1R1,1@1B1\r\n"
      "0@1F1,1F0,0@1F1.1,1F0.1,1R0.1,1B0.1,1R0,1B0,0@1R1.1,0@1B1.1,0@1R1,0@1B1\r\n";
  const TorchSchedule read = parse_torch_schedule(text, "x.csv");
  const Schedule& schedule = read.schedule;
  EXPECT_TRUE(read.extended);
  EXPECT_EQ(schedule.directions, 2);
  EXPECT_EQ(schedule.chunks, 2);
  EXPECT_EQ(schedule.slices, 2);
  EXPECT_TRUE(schedule.explicit_recompute);
  EXPECT_EQ(schedule.rank_of_stage, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(schedule.actions[0][1], Action(ActionKind::forward, 3, 2));
  EXPECT_EQ(schedule.actions[0][2], Action(ActionKind::forward, 0, 1));
  EXPECT_EQ(schedule.actions[0][3], Action(ActionKind::recompute, 0, 1));

  const TorchSchedule two =
      parse_torch_schedule("#weight_copies,2\n0F0,0B0,0F1:0,0B1:0\n", "y.csv");
  EXPECT_EQ(two.schedule.iterations, 2);
  EXPECT_EQ(two.schedule.microbatches, 1);
  EXPECT_EQ(two.schedule.weight_copies, std::vector<double>{2});
  EXPECT_EQ(two.place(0, 2).line, 2);
  EXPECT_EQ(two.place(0, 2).column, 3);
}

TEST(TorchSchedule, BothDialectsOfTorchsOwnFilesSayTheSame) {
  for (const std::string kind : {"compute", "comms"}) {
    const TorchSchedule now = read_torch_schedule(data_file("zb1p_2rank_2stagep_" + kind));
    const TorchSchedule then =
        read_torch_schedule(data_file("zb1p_2rank_2stagep_" + kind + "_old"));
    EXPECT_EQ(now.dialect, TorchDialect::current);
    EXPECT_EQ(then.dialect, TorchDialect::old);
    EXPECT_EQ(now.messages, kind == "comms");
    EXPECT_EQ(now.schedule.rank_of_stage, (std::vector<int>{0, 1, 0, 1}));
    EXPECT_EQ(now.schedule.microbatches, 8);
    expect_same(now.schedule, then.schedule, kind);
  }
}

TEST(TorchSchedule, ADialectThatIsGivenIsTaken) {
  const std::string text = "0F0,0B0\n";
  EXPECT_EQ(parse_torch_schedule(text, "x.csv").dialect, TorchDialect::current);
  EXPECT_THROW(parse_torch_schedule(text, "x.csv", TorchDialect::old), Error);  // W is missing
  const std::string old = "0F0,0B0,0W0\n";
  EXPECT_EQ(parse_torch_schedule(old, "x.csv").dialect, TorchDialect::old);
  EXPECT_THROW(parse_torch_schedule(old, "x.csv", TorchDialect::current), Error);
}

TEST(TorchSchedule, DualPipeVIsTorchsOwn) {
  const TorchSchedule torch = read_torch_schedule(data_file("dualpipev_4rank_10mb"));
  expect_same(generate_schedule("dualpipev", 4, 10, 2), torch.schedule, "dualpipev");
}

struct Malformed {
  std::string_view text;
  int line;
  int column;
  std::string_view reason;
};

const Malformed kMalformed[] = {
    {"", 1, 1, "the file is empty"},
    {"\r\n", 1, 1, "the file is empty"},
    {"0F0,0B0\n\n1F0,1B0\n", 2, 1, "rank 1 has no actions; row k must be pipeline rank k"},
    {"0F0,,0B0\n,,\n", 2, 1, "rank 1 has no actions; row k must be pipeline rank k"},
    {"F0,0B0\n", 1, 1, "'F0': expected a stage number, as in 3F1"},
    {"0F0,0\n", 1, 2, "'0': expected an action after the stage, such as F in 3F1"},
    {"0F0,0X0\n", 1, 2, "'0X0': unknown action 'X'; did you mean 'F'?"},
    {"0F0,0f1,0B0\n", 1, 2, "'0f1': unknown action 'f'; did you mean 'F'?"},
    {"0F0,0SENDF0\n", 1, 2, "'0SENDF0': unknown action 'SENDF'; did you mean 'SEND_F'?"},
    {"0F,0B0\n", 1, 1, "'0F': the micro-batch is missing"},
    {"0F0,0B0,0REDUCE_GRAD0\n", 1, 3, "'0REDUCE_GRAD0': REDUCE_GRAD must have no micro-batch"},
    {"0F0x,0B0\n", 1, 1, "'0F0x': 'x' follows the action"},
    {"0F0 0B0\n", 1, 1, "'0F0 0B0': ' 0B0' follows the action"},
    {"0F0,0BW0W0\n", 1, 2, "'0BW0W0': 'W0' follows the action"},
    {"00F0,0B0\n", 1, 1, "'00F0': a stage number starts with 0"},
    {"0F123456789,0B0\n", 1, 1, "'0F123456789': a micro-batch has more than 7 digits"},
    {"\"0F0\",0B0\n", 1, 1, "'\"0F0\"': a cell must not contain quotes"},
    {"0F0,(0F1;0B0\n", 1, 2, "'(0F1;0B0': the bracket is not closed"},
    {"0F0,(0F1;0B0)\n", 1, 2, "'(0F1;0B0)': expected OVERLAP_F_B after the bracket, not ''"},
    {"0F0,(0F1)OVERLAP_F_B\n", 1, 2,
     "'(0F1)OVERLAP_F_B': expected two actions in the brackets, as in (0F7;7B3)OVERLAP_F_B"},
    {"0F0,(0B0;0F1)OVERLAP_F_B\n", 1, 2,
     "'(0B0;0F1)OVERLAP_F_B': a forward and a full backward overlap, in this order"},
    {"0F0,,0SEND_F0\n1RECV_F0,1F0\n", 1, 2,
     "the cell is empty, but a file with messages must not have idle time steps"},
    {"0F0,0I0,0BW1\n", 1, 2,
     "'0I0': I belongs to the current dialect, but the file is in the old one, where it is B"},
    {"0F0,0F1,0B0,0B1,0W0\n", 1, 5,
     "'0W0': the file has neither I nor BW to show whether B is the input gradient or the full "
     "backward, and the numbers of B and W fit neither; state --dialect current or old"},
    {"0F0,0B0\n0F1,0B1\n", 2, 1,
     "'0F1': stage 0 is already on rank 0; a stage must be on one rank"},
    {"0F0,0B0\n2F0,2B0\n", 2, 1,
     "'2F0': stage 1 of direction 0 has no action; stages are counted from 0 without gaps"},
    {"0F0,2F0,2B0,0B0\n1F0,1B0\n", 2, 1,
     "rank 1 has 1 stages, but rank 0 has 2; all ranks must have the same number"},
    {"0F0,0F0,0B0\n", 1, 2, "'0F0': is done twice"},
    {"0B0,0F0\n", 1, 1, "'0B0': is before its forward pass"},
    {"0F0,0B0,0B0\n", 1, 3, "'0B0': is a second backward"},
    {"0F0,0W0,0I0\n", 1, 2, "'0W0': is before its input gradient"},
    {"0F0,0I0,0W0,0W0\n", 1, 4, "'0W0': is a second weight gradient"},
    {"0F0,0F1,0B0\n", 1, 2, "'0F1': has no backward"},
    {"0F0,0I0\n", 1, 2, "'0I0': has no weight gradient"},
    {"0F0,0F1,0B0,0B1\n1F1,1B1\n", 2, 3,
     "'1F0' is missing in the row, although rank 1 has stage 1"},
    {"0UNSHARD\n", 1, 1, "no micro-batch passes through the pipeline"},
    {"0F0,0B0\n#recompute\n", 2, 1, "'#recompute' is before the first rank"},
    {"#recompte\n0F0,0B0\n", 1, 1, "unknown row '#recompte'; did you mean '#recompute'?"},
    {"#weight_copies,2,x\n0F0,0B0\n", 1, 3, "'x' is not a number above 0"},
    {"#weight_copies,2,1\n0F0,0B0\n", 1, 3, "2 numbers for 1 ranks"},
    {"0F0,0@1F0,0@1B0,0B0\n", 1, 2, "'0@1F0': passes through direction 0 as well"},
    {"0F0,0B0,0R0\n", 1, 3, "'0R0': is after its backward pass"},
    {"0R0,0F0,0B0\n", 1, 1, "'0R0': is before its forward pass"},
    {"\xef\xbb\xbf"
     "0F0,0B0\n",
     1, 1, "'\\xef\\xbb\\xbf0F0': expected a stage number, as in 3F1"},
    {{"0F0\0,0B0\n", 9}, 1, 1, "'0F0\\x00': '\\x00' follows the action"},
    // Numbers that would make a small file take gigabytes are refused.
    {"0F0,0B0,0F9:9.999999\n", 1, 1,
     "1 stages of 100000000 micro-batches or slices of them are too many for 3 actions"},
    {"0F0,0B0\n9999999F0\n", 1, 1,
     "10000000 stages of 1 micro-batches or slices of them are too many for 3 actions"},
    {"0F0,0@9999999F0\n", 1, 1,
     "10000000 stages of 1 micro-batches or slices of them are too many for 2 actions"},
};

TEST(TorchSchedule, MalformedFilesAreRefusedWithRowColumnAndReason) {
  for (const Malformed& file : kMalformed) {
    EXPECT_EQ(error_of([&] { parse_torch_schedule(file.text, "bad.csv"); }),
              fmt::format("bad.csv:{}:{}: {}", file.line, file.column, file.reason));
  }
}

TEST(TorchSchedule, AMessageDoesNotRepeatALongCell) {
  const std::string cell(1'000'000, '7');
  const std::string error = error_of([&] { parse_torch_schedule(cell + ",0B0\n", "bad.csv"); });
  EXPECT_TRUE(error.starts_with("bad.csv:1:1: ")) << error;
  EXPECT_LT(error.size(), 200U);
}

}  // namespace
}  // namespace windtunnel
