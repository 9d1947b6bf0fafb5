#include "traces/logs/log_forms.hpp"

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

// A timer of Megatron: "name ....: (smallest, largest)" in ms, or only the largest.
#define TIMER R"( \.+: *\(?([^\s,)]+)(?:, *([^\s,)]+))?)"

constexpr double kMs = 1e-3;
constexpr double kTqdm = 0.3;  // default of `smoothing`, which the Trainer uses

// The sources of the texts, by repository and file:
// - Megatron-LM: NVIDIA/Megatron-LM megatron/training/training.py (training_log),
//   megatron/training/utils.py (report_memory), megatron/core/timers.py. Values are means over
//   --log-interval. Primus prints "now/mean".
// - Megatron-Bridge: NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/train_utils.py.
// - NeMo: NVIDIA/NeMo nemo/lightning/pytorch/callbacks/progress_printer.py and its progress bar.
// - torchtitan: pytorch/torchtitan torchtitan/components/metrics.py (MetricsProcessor.log).
// - DeepSpeed: deepspeedai/DeepSpeed deepspeed/utils/timer.py (ThroughputTimer),
//   deepspeed/runtime/engine.py (wall_clock_breakdown); its GB are GiB.
// - Trainer: the progress bar of tqdm/tqdm (tqdm/std.py, class EMA and update()), which draws "?"
//   before the first step.
// - MLPerf: mlcommons/training_policies, training rules, structured logging (:::MLLOG).
// - MaxText: AI-Hypercomputer/maxtext metric_logger.py. nanotron: huggingface/nanotron trainer.py.
constexpr LogForm kLogForms[] = {
    {"megatron-lm", "iteration", R"(iteration\s+(\d+)/\s*\d+\s*\|)", LogQuantity::iteration},
    {"megatron-lm", "elapsed time per iteration (ms):",
     R"(elapsed time per iteration \(ms\): *([^\s|/]+))", LogQuantity::step_s, kMs},
    {"megatron-lm", "throughput per GPU (TFLOP/s/GPU):",
     R"(throughput per GPU \(TFLOP/s/GPU\): *([^\s|/]+))", LogQuantity::tflops_per_gpu},
    {"megatron-lm", "| max allocated:", R"(\| max allocated: *([^\s|]+))",
     LogQuantity::allocated_bytes, kMebibyte},
    {"megatron-lm", "| max reserved:", R"(\| max reserved: *([^\s|]+))",
     LogQuantity::reserved_bytes, kMebibyte},
    {"megatron-lm", "forward-compute .", "forward-compute" TIMER, LogQuantity::forward_s, kMs},
    {"megatron-lm", "backward-compute .", "backward-compute" TIMER, LogQuantity::backward_s, kMs},
    {"megatron-lm", "all-grads-sync .", "all-grads-sync" TIMER, LogQuantity::gradients_s, kMs},
    {"megatron-lm", " optimizer .", "optimizer" TIMER, LogQuantity::optimizer_s, kMs},
    {"megatron-lm", "batch-generator .", "batch-generator" TIMER, LogQuantity::input_s, kMs},
    {"megatron-bridge", "Step Time", R"(Step Time ?: *([^\s|]+?)s\b)", LogQuantity::step_s},
    {"megatron-bridge", "GPU utilization:", R"(GPU utilization: *([^\s|]+?) ?MODEL_TFLOP/s/GPU)",
     LogQuantity::tflops_per_gpu},
    {"nemo", "global_step", R"(global_step[:=] *(\d+))", LogQuantity::iteration},
    {"nemo", "train_step_timing in s", R"(train_step_timing in s"?[:=] *([^\s|,\]}]+))",
     LogQuantity::step_s},
    {"torchtitan", "step:", R"(step: *(\d+) +loss:)", LogQuantity::iteration},
    {"torchtitan", "tps:", R"(tps: *(\S+))", LogQuantity::tokens_per_s_per_gpu},
    {"torchtitan", "wps:", R"(wps: *(\S+))", LogQuantity::tokens_per_s_per_gpu},  // before 2025
    {"torchtitan", "tflops:", R"(tflops: *(\S+) +mfu:)", LogQuantity::tflops_per_gpu},
    {"torchtitan", "memory:", R"(memory: *([^\s(]+?)GiB)", LogQuantity::reserved_bytes, kGibibyte},
    {"deepspeed", "global_step=", R"(global_step=(\d+),)", LogQuantity::iteration},
    {"deepspeed", "CurrSamplesPerSec=", R"(CurrSamplesPerSec=([^\s,]+))",
     LogQuantity::samples_per_s},
    {"deepspeed", "MaxMemAllocated=", R"(MaxMemAllocated=([^\s,]+?)GB)",
     LogQuantity::allocated_bytes, kGibibyte},
    {"deepspeed", "| fwd:", R"(\| fwd: *([^\s|]+))", LogQuantity::forward_s, kMs},
    {"deepspeed", "| bwd_inner:", R"(\| bwd_inner: *([^\s|]+))", LogQuantity::backward_s, kMs},
    {"deepspeed", "| bwd_allreduce:", R"(\| bwd_allreduce: *([^\s|]+))", LogQuantity::gradients_s,
     kMs},
    {"trainer", "<", R"((\d+)/\d+ \[[\d:]+<)", LogQuantity::iteration},
    {"trainer", "s/it", R"(/\d+ \[[\d:]+<[^,\]]*, *([^\s,\]?]+?)s/it)", LogQuantity::step_s, 1,
     kTqdm},
    {"trainer", "it/s", R"(/\d+ \[[\d:]+<[^,\]]*, *([^\s,\]?]+?)it/s)", LogQuantity::steps_per_s, 1,
     kTqdm},
    {"mlperf", ":::MLLOG", R"(:::MLLOG .*"step": *(\d+))", LogQuantity::iteration},
    {"mlperf", ":::MLLOG", R"(:::MLLOG .*"train_step_time": *([^\s,}]+))", LogQuantity::step_s},
    {"mlperf", ":::MLLOG", R"(:::MLLOG .*"throughput": *([^\s,}]+))", LogQuantity::samples_per_s},
    {"maxtext", "completed step:", R"(completed step: *(\d+))", LogQuantity::iteration},
    {"maxtext", "seconds:", R"(seconds: *([^\s,]+), *TFLOP/s/device)", LogQuantity::step_s},
    {"maxtext", "TFLOP/s/device:", R"(TFLOP/s/device: *([^\s,]+))", LogQuantity::tflops_per_gpu},
    {"nanotron", "iteration:", R"(iteration: *(\d+) */)", LogQuantity::iteration},
    {"nanotron", "elapsed_time_per_iteration_ms:", R"(elapsed_time_per_iteration_ms: *([^\s|]+))",
     LogQuantity::step_s, kMs},
    {"nanotron", "tokens_per_sec_per_gpu:", R"(tokens_per_sec_per_gpu: *([^\s|]+))",
     LogQuantity::tokens_per_s_per_gpu},
};
#undef TIMER

// In W&B's exports the run precedes a title ("run - name"); columns of minima and maxima have other
// titles. Megatron-LM: training_log (iteration-time, in seconds). torchtitan: metrics.py. NeMo:
// train_step_timing in s. Composer: mosaicml/composer SpeedMonitor. MaxText:
// perf/step_time_seconds. TensorBoard's download has "Wall time,Step,Value".
constexpr ColumnForm kColumnForms[] = {
    {"(?:_?step|iteration|(?:.*/)?global_step)", "step", LogQuantity::iteration},
    {"(?:.* - )?iteration-time", "iteration-time", LogQuantity::step_s},
    {"(?:.* - )?train_step_timing in s", "train_step_timing in s", LogQuantity::step_s},
    {R"((?:.* - )?(?:.*/)?time_metrics/end_to_end\(s\))", "time_metrics/end_to_end(s)",
     LogQuantity::step_s},
    {"(?:.* - )?(?:perf/)?step_time(?:_seconds|_s)?", "step_time", LogQuantity::step_s},
    {"(?:.* - )?(?:perf/)?step_time_ms", "step_time_ms", LogQuantity::step_s, kMs},
    {R"((?:.* - )?(?:.*/)?throughput\(tps\))", "throughput(tps)",
     LogQuantity::tokens_per_s_per_gpu},
    {"(?:.* - )?throughput/device/tokens_per_sec", "throughput/device/tokens_per_sec",
     LogQuantity::tokens_per_s_per_gpu},
    {"(?:.* - )?(?:.*/)?tokens_per_sec_per_gpu", "tokens_per_sec_per_gpu",
     LogQuantity::tokens_per_s_per_gpu},
    {"(?:.* - )?throughput/tokens_per_sec", "throughput/tokens_per_sec", LogQuantity::tokens_per_s},
    {"(?:.* - )?throughput/samples_per_sec", "throughput/samples_per_sec",
     LogQuantity::samples_per_s},
    {R"((?:.* - )?(?:.*/)?memory/max_reserved\(GiB\))", "memory/max_reserved(GiB)",
     LogQuantity::reserved_bytes, kGibibyte},
    {R"((?:.* - )?(?:.*/)?time_metrics/data_loading\(s\))", "time_metrics/data_loading(s)",
     LogQuantity::input_s},
    {"(?:wall time|_timestamp|_runtime)", "wall time", LogQuantity::wall_s},
};

}  // namespace

std::span<const LogForm> log_forms() {
  return kLogForms;
}

std::span<const ColumnForm> column_forms() {
  return kColumnForms;
}

}  // namespace windtunnel
