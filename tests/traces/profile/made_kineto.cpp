#include "tests/traces/profile/made_kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr double kFlops = 600e12;
constexpr double kMemory_Bps = 2.6e12;
constexpr double kNetwork_Bps = 200e9;
constexpr double kLaunch_us = 5;
constexpr double kFirst_us = 5937012345678.125;
constexpr int kProcess = 4711;

class Writer {
 public:
  Writer(const MadeTrace& made, std::ostream& out)
      : made_(made), out_(out), random_(made.seed, RandomPurpose::test, 0) {}

  std::uint64_t write() {
    header();
    for (int step = 0; step < made_.steps; ++step) write_step(step);
    put("\n  {{\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", "
        "\"tid\": "
        "\"\", \"ts\": {:.3f}}}\n  ],\n  \"traceName\": \"made.pt.trace.json\"\n}}\n",
        host_us_);
    flush();
    return bytes_;
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
    if (text_.size() > 1'000'000) flush();
  }

  void flush() {
    out_ << text_;
    bytes_ += text_.size();
    text_.clear();
  }

  // Returns the ranks of a group as a JSON list.
  std::string tensor_ranks() const { return list(made_.rank / made_.tp * made_.tp, 1, made_.tp); }
  std::string data_ranks() const {
    return list(stage() * made_.tp * made_.dp + made_.rank % made_.tp, made_.tp, made_.dp);
  }
  std::string pipeline_ranks() const {
    const int apart = made_.tp * made_.dp;
    return list(made_.rank % apart, apart, made_.pp);
  }
  static std::string list(int first, int stride, int count) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) {
      text += fmt::format("{}{}", i > 0 ? ", " : "", first + i * stride);
    }
    return text + "]";
  }

  void header() {
    put("{{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {{\n      \"id\": 0, "
        "\"name\": "
        "\"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 85017493504,\n      \"computeMajor\": 9, "
        "\"computeMinor\": 0, \"warpSize\": 32, \"numSms\": 132\n    }}\n  ],\n");
    put("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}, "
        "\"pg_count\": {}, \"pg_config\": [{{\"pg_name\": \"1\", \"pg_desc\": \"tp\", "
        "\"backend_config\": \"cuda:nccl\", \"pg_size\": {}, \"ranks\": {}}}, {{\"pg_name\": "
        "\"2\", \"pg_desc\": \"dp\", \"backend_config\": \"cuda:nccl\", \"pg_size\": {}, "
        "\"ranks\": {}}}{}], \"nccl_version\": \"2.21.5\"}},\n",
        made_.rank, made_.tp * made_.dp * made_.pp, made_.pp > 1 ? 3 : 2, made_.tp, tensor_ranks(),
        made_.dp, data_ranks(),
        made_.pp == 1 ? ""
                      : fmt::format(", {{\"pg_name\": \"3\", \"pg_desc\": \"pp\", "
                                    "\"backend_config\": \"cuda:nccl\", \"pg_size\": {}, "
                                    "\"ranks\": {}}}",
                                    made_.pp, pipeline_ranks()));
    put("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1730894576000000000,\n"
        "  \"traceEvents\": [");
    put("\n  {{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": {:.3f}, \"pid\": {}, \"tid\": 0, "
        "\"args\": {{\"name\": \"python\"}}}},",
        kFirst_us, kProcess);
  }

  void write_step(int step) {
    const double begin_us = host_us_;
    if (step == 0) gpu_us_ = host_us_ + 40;
    step_gpu_us_ = gpu_us_;
    // In 1F1B the first stage is one forward pass ahead.
    int forwards = 0;
    for (int backwards = 0; backwards < made_.microbatches; ++backwards) {
      const int due = backwards + (stage() + 1 < made_.pp ? 2 : 1);
      for (; forwards < std::min(due, made_.microbatches); ++forwards) forward(forwards);
      backward(backwards);
    }
    gpu_us_ = std::max(gpu_us_, network_us_);  // the optimizer waits for the gradients
    for (double left = parameters(); left > 0; left -= 50e6) {
      memory(
          "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
          28 * std::min(left, 50e6));
    }
    host_us_ = std::max(host_us_, gpu_us_ - 200);  // the host reads the loss
    if (!made_.with_steps) return;
    span("user_annotation", fmt::format("ProfilerStep#{}", step + 5), begin_us, host_us_);
  }

  int stage() const { return made_.rank / (made_.tp * made_.dp); }
  int own_layers() const { return made_.layers / made_.pp; }

  void forward(int batch) {
    const double begin_us = host_us_;
    if (stage() > 0) receive(0);
    if (stage() == 0) embedding("embedding_dense");
    for (int layer = 0; layer < own_layers(); ++layer) forward_layer();
    if (stage() + 1 == made_.pp) head(1);
    if (stage() + 1 < made_.pp) message("send", stage() + 1, 0);
    mark_pass('F', batch, begin_us);
  }

  void backward(int batch) {
    const double begin_us = host_us_;
    if (stage() + 1 < made_.pp) receive(batch == 0 ? gpu_us_ - step_gpu_us_ : 0);
    if (made_.with_threads) thread_ = kProcess + 1;
    if (stage() + 1 == made_.pp) head(2);
    const bool reduces = batch + 1 == made_.microbatches;
    for (int layer = 0; layer < own_layers(); ++layer) backward_layer(reduces);
    if (stage() == 0) embedding("embedding_backward_feature_kernel");
    thread_ = kProcess;
    if (stage() > 0) message("send", stage() - 1, 0);
    mark_pass('B', batch, begin_us);
  }

  void mark_pass(char letter, int batch, double begin_us) {
    if (!made_.with_passes) return;
    span("user_annotation", fmt::format("PP:{}{}{}", stage(), letter, batch), begin_us, host_us_);
  }

  // The next kernels wait for this message. `wait_us` is the time until the other stage sends it.
  void receive(double wait_us) {
    message("recv", 1 - stage(), wait_us);
    gpu_us_ = network_us_;
  }

  void message(std::string_view kind, int other_stage, double wait_us) {
    network_us_ = std::max(network_us_, gpu_us_) + wait_us;
    communicate("SendRecv", kind, double(made_.tokens) * made_.hidden, "3", "pp", made_.pp,
                pipeline_ranks(), 36, other_stage);
  }

  double parameters() const {
    const double layer = 4.0 * made_.hidden * made_.hidden + 2.0 * made_.hidden * made_.ffn;
    return (own_layers() * layer + double(made_.vocabulary) * made_.hidden) / made_.tp;
  }

  void embedding(std::string_view name) {
    memory(fmt::format("void at::native::{}<c10::BFloat16, float>", name),
           4.0 * made_.tokens * made_.hidden);
  }

  void forward_layer() {
    const double h = made_.hidden;
    memory("void transformer_engine::normalization::ln_fwd_tuned_kernel", 4 * made_.tokens * h);
    product(3 * h / made_.tp, h);
    attention("flash_fwd_kernel", 1);
    product(h, h / made_.tp);
    exchange_tensor();
    memory("void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add>",
           6 * made_.tokens * h);
    memory("void transformer_engine::normalization::ln_fwd_tuned_kernel", 4 * made_.tokens * h);
    product(double(made_.ffn) / made_.tp, h);
    memory("triton_poi_fused_gelu_0", 4.0 * made_.tokens * made_.ffn / made_.tp);
    product(h, double(made_.ffn) / made_.tp);
    exchange_tensor();
  }

  void backward_layer(bool reduces) {
    const double h = made_.hidden;
    for (const double wide : {double(made_.ffn) / made_.tp, double(made_.ffn) / made_.tp}) {
      product(wide, h);
      product(h, wide);
    }
    memory("triton_poi_fused_gelu_backward_1", 6.0 * made_.tokens * made_.ffn / made_.tp);
    exchange_tensor();
    memory("void transformer_engine::normalization::ln_bwd_tuned_kernel", 6 * made_.tokens * h);
    product(h, h / made_.tp);
    product(h / made_.tp, h);
    attention("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 2.5);
    product(3 * h / made_.tp, h);
    product(h, 3 * h / made_.tp);
    exchange_tensor();
    memory("void transformer_engine::normalization::ln_bwd_tuned_kernel", 6 * made_.tokens * h);
    if (reduces && made_.dp > 1) exchange_data((4 * h * h + 2 * h * made_.ffn) / made_.tp);
  }

  void head(int products) {
    const double v = double(made_.vocabulary) / made_.tp;
    for (int i = 0; i < products; ++i) product(v, made_.hidden);
    const bool forward = products == 1;
    if (forward) memory("void (anonymous namespace)::softmax_warp_forward", 8.0 * made_.tokens * v);
  }

  void product(double n, double k) {
    kernel("kernel", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
           2.0 * made_.tokens * n * k / kFlops * 1e6 + 3, "aten::mm");
  }
  void attention(std::string_view name, double times) {
    const double sequence = std::min(made_.tokens, 4096);
    const double flops = 2 * times * made_.tokens * sequence * made_.hidden / made_.tp;
    kernel("kernel", fmt::format("void flash::{}<Flash_kernel_traits<128, 128, 64>>", name),
           flops / (0.7 * kFlops) * 1e6 + 4, "aten::_flash_attention_forward");
  }
  void memory(const std::string& name, double moved) {
    kernel("kernel", name, moved / kMemory_Bps * 1e6 + 2, "aten::add");
  }

  void exchange_tensor() {
    if (made_.tp == 1) return;
    const double elements = double(made_.tokens) * made_.hidden;
    network_us_ = std::max(network_us_, gpu_us_);
    communicate("AllReduce", "allreduce", elements, "1", "tp", made_.tp, tensor_ranks(), 22);
    gpu_us_ = network_us_;  // the next kernels read the result
  }
  void exchange_data(double elements) {
    network_us_ = std::max(network_us_, gpu_us_);
    communicate("ReduceScatter", "_reduce_scatter_base", elements, "2", "dp", made_.dp,
                data_ranks(), 28);
  }

  double jitter() { return 0.97 + 0.06 * random_.uniform(); }

  // Writes the host's call and advances the host's clock to its end.
  void launch(std::string_view operation) {
    ++correlation_;
    const double begin_us = host_us_;
    if (made_.with_host) {
      put("\n  {{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, "
          "\"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{\"External id\": {}, \"Record function "
          "id\": 0, \"Sequence number\": {}, \"Fwd thread id\": 0, \"Ev Idx\": {}, \"Concrete "
          "Inputs\": [\"\", \"\"], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], \"Input "
          "Dims\": [[{}, {}], [{}, {}]]}}}},",
          operation, kProcess, thread_, begin_us, kLaunch_us, correlation_ + 9, correlation_,
          correlation_, made_.tokens, made_.hidden, made_.hidden, made_.hidden);
      put("\n  {{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": "
          "\"torch/nn/modules/module.py(1736): _wrapped_call_impl\", \"pid\": {}, \"tid\": {}, "
          "\"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{\"Python parent id\": {}, \"Python id\": "
          "{}, \"Ev Idx\": {}}}}},",
          kProcess, thread_, begin_us, kLaunch_us, correlation_, correlation_ + 1, correlation_);
    }
    put("\n  {{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": "
        "{}, \"tid\": {}, \"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{\"External id\": {}, "
        "\"cbid\": 211, \"correlation\": {}}}}},",
        kProcess, thread_, begin_us + 1, kLaunch_us - 2, correlation_ + 9, correlation_);
    if (made_.with_host) {
      put("\n  {{\"ph\": \"s\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, \"cat\": "
          "\"ac2g\", \"name\": \"ac2g\"}},",
          correlation_, kProcess, thread_, begin_us + 1);
    }
    host_us_ += kLaunch_us;
  }

  void kernel(std::string_view category, const std::string& name, double duration_us,
              std::string_view operation) {
    launch(operation);
    const double begin_us = std::max(gpu_us_ + 0.9, host_us_ + 3);
    const double end_us = begin_us + duration_us * jitter();
    gpu_event(category, name, begin_us, end_us, 7, "");
    gpu_us_ = end_us;
  }

  void communicate(std::string_view kind, std::string_view name, double elements,
                   std::string_view group, std::string_view axis, int ranks,
                   const std::string& members, int stream, int peer = -1) {
    launch("record_param_comms");
    const bool all_reduce = name == "allreduce";
    const bool message = peer >= 0;
    const int own = message ? stage() : made_.rank;  // place in its group of two stages
    const double moved =
        message ? elements * 2 : elements * 2 * (all_reduce ? 2 : 1) * (ranks - 1) / ranks;
    const double begin_us = std::max(network_us_ + 0.9, host_us_ + 3);
    network_us_ = begin_us + (moved / kNetwork_Bps * 1e6 + 15) * jitter();
    gpu_event(
        "kernel",
        fmt::format("ncclDevKernel_{}_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kind),
        begin_us, network_us_, stream,
        fmt::format(", \"Collective name\": \"{}\", \"In msg nelems\": {:.0f}, \"Out msg "
                    "nelems\": {:.0f}, \"Group size\": {}, \"dtype\": \"BFloat16\", \"In "
                    "split size\": \"[]\", \"Out split size\": \"[]\", \"Process Group "
                    "Name\": \"{}\", \"Process Group Description\": \"{}\", \"Process Group "
                    "Ranks\": \"{}\", \"Rank\": {}, \"Src Rank\": {}, \"Dst Rank\": {}",
                    name, elements, all_reduce || message ? elements : elements / ranks, ranks,
                    group, axis, members, made_.rank, name == "recv" ? peer : own,
                    name == "send" ? peer : own));
  }

  void gpu_event(std::string_view category, const std::string& name, double begin_us, double end_us,
                 int stream, const std::string& more) {
    put("\n  {{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 0, \"tid\": {}, \"ts\": "
        "{:.3f}, \"dur\": {:.3f}, \"args\": {{\"External id\": {}, \"queued\": 0, \"device\": 0, "
        "\"context\": 1, \"stream\": {}, \"correlation\": {}, \"registers per thread\": 168, "
        "\"shared memory\": 213376, \"blocks per SM\": 1.939394, \"warps per SM\": 23.272728, "
        "\"grid\": [8, 32, 1], \"block\": [384, 1, 1], \"est. achieved occupancy %\": 19{}}}}},",
        category, name, stream, begin_us, end_us - begin_us, correlation_ + 9, stream, correlation_,
        more);
    if (made_.with_host) {
      put("\n  {{\"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": {}, \"ts\": {:.3f}, \"cat\": "
          "\"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"}},",
          correlation_, stream, begin_us);
    }
  }

  void span(std::string_view category, const std::string& name, double begin_us, double end_us) {
    put("\n  {{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": "
        "{:.3f}, \"dur\": {:.3f}, \"args\": {{\"External id\": 1, \"Record function id\": 0, "
        "\"finished\": true, \"Ev Idx\": 0}}}},",
        category, name, kProcess, kProcess, begin_us, end_us - begin_us);
  }

  const MadeTrace& made_;
  std::ostream& out_;
  RandomStream random_;
  std::string text_;
  std::uint64_t bytes_ = 0;
  std::int64_t correlation_ = 0;
  int thread_ = kProcess;  // the thread that launches
  double host_us_ = kFirst_us;
  double gpu_us_ = kFirst_us;
  double step_gpu_us_ = kFirst_us;  // when the step began
  double network_us_ = kFirst_us;
};

}  // namespace

std::uint64_t write_made_kineto(const MadeTrace& made, std::ostream& out) {
  return Writer(made, out).write();
}

std::string made_kineto(const MadeTrace& made) {
  std::ostringstream out;
  write_made_kineto(made, out);
  return out.str();
}

}  // namespace windtunnel
