#include "traces/logs/training_log.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using enum LogQuantity;

struct Line {
  std::string text;
  LogQuantity quantity;
  double low, high;
  std::string software;
};

double value(const TrainingLog& log, LogQuantity quantity) {
  return log.steps.front().of(quantity)->high;
}

// Every form occurs at least once, as its program prints it, with invented numbers.
TEST(TrainingLog, ReadsWhatProgramsPrint) {
  const std::string pace = "iteration 7/ 90 | elapsed time per iteration (ms): 2500.5 |\n";
  const std::vector<Line> lines = {
      {" [2026-01-02 03:04:05] iteration       20/     100 | consumed samples:   5120 | elapsed "
       "time per iteration (ms): 5832.1 | throughput per GPU (TFLOP/s/GPU): 451.2 | learning "
       "rate: 1.5E-05 |\n",
       step_s, 5.8321, 5.8321, "megatron-lm"},
      {"iteration 1/ 10 | elapsed time per iteration (ms): 900.0/950.0 | throughput per GPU "
       "(TFLOP/s/GPU): 551.8/540.1 |\n",
       tflops_per_gpu, 551.8, 551.8, "megatron-lm"},
      {pace + "[Rank 0] (after 10 iterations) memory (MB) | allocated: 100.5 | max allocated: "
              "1024.0 | reserved: 200.0 | max reserved: 2048.0\n",
       reserved_bytes, 2147483648, 2147483648, "megatron-lm"},
      {pace + "    forward-compute ................................: (1711.12, 1745.53)\n",
       forward_s, 1.71112, 1.74553, "megatron-lm"},
      {pace + "    all-grads-sync .................................: 31.25\n", gradients_s, 0.03125,
       0.03125, "megatron-lm"},
      {"Step Time : 5.39s GPU utilization: 447.0MODEL_TFLOP/s/GPU\n", step_s, 5.39, 5.39,
       "megatron-bridge"},
      {"Training epoch 0, iteration 1/249 | lr: 3.9e-06 | global_step: 1 | reduced_train_loss: 1.6 "
       "| train_step_timing in s: 2.505 | consumed_samples: 16\n",
       step_s, 2.505, 2.505, "nemo"},
      {"Epoch 0: : 100%|###| 9/9 [10:48<00:00, reduced_train_loss=0.01, global_step=99.00, "
       "train_step_timing in s=3.130]\n",
       step_s, 3.13, 3.13, "nemo"},
      {"[rank0]:[titan] 2026-01-02 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  7.1  "
       "\x1b[33mgrad_norm:  2.0  \x1b[36mmemory: 42.13GiB(53.23%)  \x1b[34mtps: 7,152  "
       "\x1b[36mtflops: 369.10  \x1b[35mmfu: 37.32%\x1b[0m\n",
       tokens_per_s_per_gpu, 7152, 7152, "torchtitan"},
      {"[rank0]:2026-01-02 - root - INFO - step: 10  loss:  1.5  memory: 26.47GiB(33.47%)  wps: "
       "1,702  mfu: 10.0%\n",
       tokens_per_s_per_gpu, 1702, 1702, "torchtitan"},
      {"[2026-01-02 03:04:05,646] [INFO] [timer.py:260:stop] epoch=0/micro_step=8/global_step=2, "
       "RunningAvgSamplesPerSec=58.7, CurrSamplesPerSec=61.5, MemAllocated=6.0GB, "
       "MaxMemAllocated=19.5GB\n",
       samples_per_s, 61.5, 61.5, "deepspeed"},
      {" 12%|#2        | 12/100 [00:39<04:41,  3.20s/it]\n", step_s, 3.2, 3.2, "trainer"},
      {" 12%|#2        | 12/100 [00:05<00:39,  2.25it/s]\n", step_s, 1 / 2.25, 1 / 2.25, "trainer"},
      {":::MLLOG {\"namespace\": \"\", \"time_ms\": 17, \"event_type\": \"POINT_IN_TIME\", "
       "\"key\": "
       "\"tracked_stats\", \"value\": {\"throughput\": 30.75}, \"metadata\": {\"step\": 172}}\n",
       samples_per_s, 30.75, 30.75, "mlperf"},
      {"completed step: 4, seconds: 5.250, TFLOP/s/device: 310.5, Tokens/s/device: 7802.1, loss: "
       "9.1\n",
       step_s, 5.25, 5.25, "maxtext"},
      {"[INFO]: iteration: 5 / 20 | consumed_tokens: 20.5K | elapsed_time_per_iteration_ms: 343 | "
       "tokens_per_sec: 191K | tokens_per_sec_per_gpu: 11.9K | model_tflops_per_gpu: 400 |\n",
       tokens_per_s_per_gpu, 11900, 11900, "nanotron"},
  };
  for (const Line& line : lines) {
    const TrainingLog log = parse_training_log("started\n" + line.text + "ended\n", "run.log");
    ASSERT_EQ(log.steps.size(), 1U) << line.text;
    EXPECT_TRUE(log.faults.empty()) << line.text;
    EXPECT_EQ(log.software.front(), line.software);
    ASSERT_TRUE(log.steps.front().of(line.quantity)) << line.text;
    EXPECT_NEAR(log.steps.front().of(line.quantity)->low, line.low, 1e-9 * line.low);
    EXPECT_NEAR(log.steps.front().of(line.quantity)->high, line.high, 1e-9 * line.high);
  }
}

TEST(TrainingLog, PutsLinesOfAStepTogether) {
  const TrainingLog log = parse_training_log(
      "Step Time : 2.00s GPU utilization: 400.0MODEL_TFLOP/s/GPU\n"
      "iteration 1/ 9 | elapsed time per iteration (ms): 2010.0 |\n"
      "Step Time : 3.00s GPU utilization: 300.0MODEL_TFLOP/s/GPU\r\n"
      "iteration 2/ 9 | elapsed time per iteration (ms): 3010.0 |\r\n",
      "run.log");
  ASSERT_EQ(log.steps.size(), 2U);
  EXPECT_EQ(log.steps[1].iteration, 2);
  EXPECT_NEAR(log.steps[1].of(step_s)->high, 3.01, 1e-12);
  EXPECT_NEAR(log.steps[1].of(tflops_per_gpu)->high, 300, 1e-12);
  EXPECT_EQ(log.steps[1].line, 3);
}

TEST(TrainingLog, ReadsTables) {
  const TrainingLog titan = parse_training_log(
      "Step,\"my run - throughput(tps)\",\"my run - "
      "throughput(tps)__MIN\"\n1,7000,6990\n2,7100,1\n",
      "wandb.csv");
  ASSERT_EQ(titan.steps.size(), 2U);
  EXPECT_EQ(titan.steps[1].iteration, 2);
  EXPECT_EQ(value(titan, tokens_per_s_per_gpu), 7000);
  const TrainingLog board = parse_training_log(
      "Wall time,Step,Value\n1700000000.5,1,8.1\n1700000003.5,2,8.0\n", "tb.csv");
  EXPECT_EQ(value(board, wall_s), 1700000000.5);
  EXPECT_EQ(error_of([] { parse_training_log("step,step_time\n1,abc\n2,\n", "a.csv"); }),
            "a.csv:2:2: column 'step_time': 'abc' is not a possible value of a step; there are 1 "
            "such places, and no step has a readable time");
}

// Columns that an error message names can be read.
TEST(TrainingLog, ColumnsAreReadAsTheyAreCalled) {
  for (const ColumnForm& form : column_forms()) {
    if (form.quantity == iteration) continue;
    const std::string pace = form.quantity == step_s ? "" : "step_time,";
    const std::string text = fmt::format("step,{}{}\n1,{}9\n2,{}9\n", pace, form.called,
                                         pace.empty() ? "" : "7,", pace.empty() ? "" : "7,");
    const TrainingLog log = parse_training_log(text, "a.csv");
    ASSERT_EQ(log.steps.size(), 2U) << form.called;
    EXPECT_EQ(log.steps[0].iteration, 1) << form.called;
    EXPECT_EQ(value(log, form.quantity), 9 * form.unit) << form.called;
  }
}

TEST(TrainingLog, RefusesWhatIsNone) {
  const auto refused = [](const std::string& text, const std::string& why) {
    return fails([&] { parse_training_log(text, "run.log"); }, why);
  };
  EXPECT_TRUE(refused("", "run.log:1:1: no line contains the time of a step"));
  EXPECT_TRUE(refused("hello\n", "megatron-lm, megatron-bridge, nemo, torchtitan, deepspeed"));
  EXPECT_TRUE(refused("# nThread 1\n# out-of-place  in-place\n",
                      "expect COLLECTIVE --cluster MACHINE --log FILE"));
  EXPECT_TRUE(refused("iteration,seconds\n1,9.1\n",
                      "no column contains the time of a step; in addition to `step`, one of "));
  EXPECT_TRUE(refused("iteration,seconds\n1,9.1\n", "iteration-time, train_step_timing in s, "));
  EXPECT_TRUE(refused("{\"traceEvents\": []}", "its name must end in .json"));
  for (const char* bad : {"nan", "-3", "0", "inf", "1e999", "5832x"}) {
    EXPECT_TRUE(refused(
        "\n  iteration 3/ 9 | elapsed time per iteration (ms): " + std::string(bad) + " |\n",
        "run.log:2:53: '" + std::string(bad) + "' after 'elapsed time"))
        << bad;
  }
}

// tqdm smooths with a factor of 0.3. Its mean of steps of 2, 2, 5 and 0.5 s follows by hand: the
// sums of seconds are 0.6, 1.02, 2.214, 1.6998, and the sums of weights 0.3, 0.51, 0.657, 0.7599.
// Before the first step it prints no rate.
TEST(TrainingLog, TakesTheMeanOfAProgressBarApart) {
  const TrainingLog log = parse_training_log(
      "  0%|          | 0/4 [00:00<?, ?it/s]\r 25%|##| 1/4 [00:02<00:06,  2.00s/it]\r"
      " 50%|##| 2/4 [00:04<00:04,  2.00s/it]\r 75%|##| 3/4 [00:09<00:03,  3.3699s/it]\r"
      "100%|##| 4/4 [00:09<00:00,  2.2369s/it]\n",
      "run.log");
  EXPECT_EQ(log.unreadable, 0U);
  ASSERT_EQ(log.steps.size(), 4U);
  const double seconds[] = {2, 2, 5, 0.5};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(log.steps[i].of(step_s)->high, seconds[i], 0.001) << i;
  }
}

TEST(TrainingLog, TakesTheRanksOfAStepTogether) {
  const std::string memory = "(after 2 iterations) memory (MB) | max allocated: ";
  const TrainingLog log = parse_training_log(
      "iteration 2/ 9 | elapsed time per iteration (ms): 2500.5 |\n[Rank 8] " + memory +
          "300.0 | max reserved: 900.0\n[Rank 0] " + memory + "200.0 | max reserved: 800.0\n",
      "run.log");
  EXPECT_EQ(value(log, allocated_bytes), 300 * 1048576.0);
  EXPECT_EQ(log.steps.front().of(allocated_bytes)->low, 200 * 1048576.0);
  EXPECT_EQ(value(log, reserved_bytes), 900 * 1048576.0);
}

TEST(TrainingLog, CountsAllDamageAndKeepsTheFirst) {
  std::string lines;
  std::string table = "step,step_time\n";
  for (int i = 1; i <= 4000; ++i) {
    const bool damaged = i % 8 < 3;
    lines += "iteration " + std::to_string(i) +
             "/ 4000 | elapsed time per iteration (ms): " + (damaged ? "58[Ra" : "5800.5") + " |\n";
    table += std::to_string(i) + (damaged ? ",x\n" : ",5.8\n");
  }
  for (const std::string& text : {lines, table}) {
    const TrainingLog log = parse_training_log(text, "run.log");
    EXPECT_EQ(log.unreadable, 1500U);
    EXPECT_EQ(log.faults.size(), 1000U);
    EXPECT_EQ(log.steps.size(), 2500U);
  }
}

// A process wrote into another process's line.
TEST(TrainingLog, LeavesOutWhatIsDamaged) {
  std::string text;
  for (int i = 1; i < 9; ++i) {
    text += "iteration " + std::to_string(i) +
            "/ 9 | elapsed time per iteration (ms): " + (i == 4 ? "58[Rank" : "5800.5") + " |\n";
  }
  const TrainingLog log = parse_training_log(text, "run.log");
  EXPECT_EQ(log.steps.size(), 7U);
  ASSERT_EQ(log.faults.size(), 1U);
  EXPECT_EQ(log.faults.front().where.line, 4);
}

}  // namespace
}  // namespace windtunnel
