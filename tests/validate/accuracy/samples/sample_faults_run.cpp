#include "tests/validate/accuracy/samples/sample_faults_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windtunnel {
namespace {

struct Machine {
  MachineKind kind = MachineKind::host;
  double start_s = 0;          // per kernel
  double message_start_s = 0;  // per message
  // Each level of caches has its size in bytes and its bandwidth in bytes per second.
  std::vector<std::pair<double, double>> levels;
  double memory_Bps = 0;
  double message_Bps = 0;
  double flops = 0;

  double rate_Bps(double bytes) const {
    for (const auto& [holds, rate] : levels) {
      if (bytes <= holds) return rate;
    }
    return memory_Bps;
  }
};

double drawn_between(RandomStream& random, double least, double most) {
  return least * std::pow(most / least, random.uniform());
}

Machine machine_of(MachineKind kind, RandomStream& random) {
  Machine machine;
  machine.kind = kind;
  if (kind == MachineKind::host) {
    machine.start_s = drawn_between(random, 20e-9, 400e-9);
    machine.message_start_s = drawn_between(random, 10e-6, 50e-6);
    machine.levels = {{drawn_between(random, 30e3, 60e3), drawn_between(random, 60e9, 150e9)},
                      {drawn_between(random, 5e5, 4e6), drawn_between(random, 30e9, 50e9)},
                      {drawn_between(random, 10e6, 100e6), drawn_between(random, 15e9, 25e9)}};
    machine.memory_Bps = drawn_between(random, 6e9, 14e9);
    machine.message_Bps = drawn_between(random, 1e9, 3e9);
    machine.flops = drawn_between(random, 20e9, 100e9);
    return machine;
  }
  machine.start_s = drawn_between(random, 1.5e-6, 4e-6);
  machine.message_start_s = drawn_between(random, 10e-6, 30e-6);
  machine.levels = {{50e6, 6e12}};
  machine.memory_Bps = drawn_between(random, 3.8e12, 4.3e12);
  machine.message_Bps = drawn_between(random, 100e9, 400e9);
  machine.flops = drawn_between(random, 45e12, 60e12);
  return machine;
}

// Returns the largest share of memory bandwidth that a kernel's own work allows.
double own_share(std::string_view kernel, MachineKind kind) {
  if (kernel == "copy" || kernel == "add" || kernel == "scale") return 1;
  if (kernel == "xor") return 0.9;
  const double share = kernel == "quantise-int8" ? 0.8 : kernel == "sign-pack" ? 0.3 : 0.5;
  return kind == MachineKind::gpu ? std::sqrt(share) : share;
}

double true_s(const Machine& machine, const KernelWork& work) {
  const KernelKind& kind = kernel_kind(work.kernel);
  const double bytes = kind.bytes(work);
  if (kind.family == KernelFamily::collective) {
    return machine.message_start_s + bytes / machine.message_Bps;
  }
  if (kind.family == KernelFamily::matrix) {
    // Small and thin products leave units idle.
    const double share = std::cbrt(std::min({work.m, work.n, work.k}) / 4096);
    return machine.start_s + kind.flops(work) / (machine.flops * std::min(1.0, share));
  }
  const double own_Bps = own_share(work.kernel, machine.kind) * machine.memory_Bps;
  const double limit = own_share(work.kernel, machine.kind) >= 0.9 ? HUGE_VAL : own_Bps;
  return machine.start_s + bytes / std::min(limit, machine.rate_Bps(bytes));
}

double student_of_4(RandomStream& random) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    const double x = random.normal();
    sum += x * x;
  }
  return random.normal() / std::sqrt(sum / 4);
}

class Run {
 public:
  Run(MachineKind kind, std::uint64_t seed, double noise)
      : random_(seed, RandomPurpose::test, 0), machine_(machine_of(kind, random_)), noise_(noise) {}

  void add(const std::string& text, SampleRole role, CacheState cache = CacheState::warm);
  void add_all();
  std::vector<Sample> measured();

 private:
  void time(Sample& sample, double batch_factor);

  RandomStream random_;
  Machine machine_;
  double noise_ = 1;
  std::vector<Sample> works_;
};

void Run::add(const std::string& text, SampleRole role, CacheState cache) {
  Sample sample;
  sample.work = parse_kernel_steps(text);
  sample.role = role;
  sample.cache = cache;
  const bool host = machine_.kind == MachineKind::host;
  sample.backend = host ? "cpu" : "cuda";
  sample.device = host ? "A CPU of Tests" : "NVIDIA H200";
  sample.driver = host ? "6.1.0" : "580.10";
  sample.date = "2026-11-22";
  if (!host) sample.before = sample.after = {1.98e9, 3.2e9, 45, false};
  works_.push_back(std::move(sample));
}

void Run::add_all() {
  const double most = machine_.kind == MachineKind::host ? 300e6 : 2e9;
  for (const char* kernel :
       {"copy bytes={}", "add elements={}", "scale elements={}", "xor k=4 m=1 bytes={}",
        "rs-encode k=8 m=2 bytes={}", "quantise-int8 elements={}", "sign-pack elements={}"}) {
    const double one =
        kernel_kind(std::string_view(kernel).substr(0, std::string_view(kernel).find(' ')))
            .bytes(parse_kernel_steps(fmt::format(fmt::runtime(kernel), 1000))[0][0]) /
        1000;
    int count = 0;
    for (double bytes = 32e3; bytes <= most; bytes *= 2) {
      const auto text = [&](double size) {
        return fmt::format(fmt::runtime(kernel), std::round(size / one));
      };
      add(text(bytes), SampleRole::fit);
      if (++count % 4 == 0) add(text(bytes * std::sqrt(2)), SampleRole::judge);
      if (std::string_view(kernel).starts_with("copy") && count > 5) {
        add(text(bytes), SampleRole::fit, CacheState::cold);
      }
    }
  }
  for (double bytes = 1e3; bytes <= 64e6; bytes *= 4) {
    add(fmt::format("send bytes={}", bytes), SampleRole::fit);
  }
  for (const int n : {64, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096}) {
    add(fmt::format("gemm type=fp32 m={0} n={0} k={0}", n), SampleRole::fit);
  }
  add("gemm type=fp32 m=1024 n=1024 k=64", SampleRole::fit);
  add("gemm type=fp32 m=64 n=1024 k=1024", SampleRole::fit);
  add("gemm type=fp32 m=640 n=640 k=640", SampleRole::judge);
  add("quantise-int8 elements=100000 > copy bytes=125000", SampleRole::judge);
}

void Run::time(Sample& sample, double batch_factor) {
  constexpr double kSlowed = 1.0 / 12;
  const double spread = drawn_between(random_, 0.003, 0.08);
  double seconds = 0;
  for (const std::vector<KernelWork>& step : sample.work) {
    for (const KernelWork& work : step) seconds += true_s(machine_, work);
  }
  // A flush writes the contents of caches to memory.
  if (sample.cache == CacheState::cold) {
    const double bytes = kernel_kind("copy").bytes(sample.work[0][0]);
    seconds = std::max(seconds, machine_.start_s + bytes / machine_.memory_Bps);
  }
  // Load makes works slower and never faster.
  const double strays = spread * student_of_4(random_);
  seconds *= batch_factor * std::exp(strays > 0 ? noise_ * strays : strays);
  if (random_.uniform() < noise_ * kSlowed)
    seconds *= std::pow(drawn_between(random_, 1.1, 2), noise_);
  sample.median_s = seconds;
  sample.low_s = seconds * std::exp(-spread * (0.5 + random_.uniform()));
  sample.high_s = seconds * std::exp(spread * (0.5 + random_.uniform()));
  sample.p05_s = sample.low_s * std::exp(-spread * random_.uniform());
  sample.p95_s = sample.high_s * std::exp(3 * spread * random_.uniform());
  sample.repeats = static_cast<int>(30 + random_.below(200));
}

std::vector<Sample> Run::measured() {
  constexpr std::size_t kTogether = 8;
  for (std::size_t i = works_.size() - 1; i > 0; --i) {
    std::swap(works_[i], works_[random_.below(i + 1)]);
  }
  Sample again = works_.front();
  again.role = SampleRole::again;
  works_.push_back(again);
  double now_s = 0;
  double batch_factor = 1;
  double took_s = 0;
  for (std::size_t i = 0; i < works_.size(); ++i) {
    if (i % kTogether == 0) {
      now_s += took_s;
      took_s = 0;
      const bool slowed = random_.uniform() < 0.1 * noise_;
      batch_factor = slowed ? std::pow(drawn_between(random_, 1.05, 1.3), noise_) : 1;
    }
    Sample& sample = works_[i];
    time(sample, batch_factor);
    sample.order = static_cast<double>(i);
    sample.started_s = now_s + 1e-6 * static_cast<double>(i % kTogether);
    sample.id = fmt::format("run.csv:{}", i + 2);
    took_s += sample.repeats * std::max(50e-6, sample.median_s) * drawn_between(random_, 1.1, 3);
  }
  return works_;
}

}  // namespace

std::vector<Sample> clean_run(MachineKind kind, std::uint64_t seed, double noise) {
  Run run(kind, seed, noise);
  run.add_all();
  return run.measured();
}

void stretch(Sample& sample, double factor) {
  for (double* seconds :
       {&sample.median_s, &sample.low_s, &sample.high_s, &sample.p05_s, &sample.p95_s}) {
    *seconds *= factor;
  }
}

void slow_down(std::vector<Sample>& run, double slower) {
  for (Sample& sample : run) {
    stretch(sample, slower);
    sample.started_s *= slower;
  }
}

bool is_single(const Sample& sample) {
  return sample.work.size() == 1 && sample.work[0].size() == 1;
}

std::string kernel_of(const Sample& sample) {
  return sample.work[0][0].kernel;
}

bool is_stream(std::string_view kernel) {
  return kernel == "copy" || kernel == "add" || kernel == "scale";
}

std::vector<Sample*> series_of(std::vector<Sample>& run, std::string_view kernel, bool judged) {
  std::vector<Sample*> series;
  for (Sample& s : run) {
    if (is_single(s) && kernel_of(s) == kernel && s.cache == CacheState::warm &&
        (s.role == SampleRole::fit || (judged && s.role == SampleRole::judge))) {
      series.push_back(&s);
    }
  }
  std::ranges::sort(
      series, {}, [](const Sample* s) { return kernel_kind(kernel_of(*s)).bytes(s->work[0][0]); });
  return series;
}

}  // namespace windtunnel
