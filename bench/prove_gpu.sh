#!/bin/sh
# Proves and measures the GPU of a node with one command, from the pack of `./dev harness --tests`:
# its tests, its benchmark, a calibration and its judgement, the tests under compute-sanitizer. Each
# step has a time limit and a log of its own, and a line of the summary as soon as it is over: a
# hang or a lost node leaves what came before.
#   prove-gpu OUT [BUDGET]     BUDGET: of the calibration, '3 min' where none is given
# The last part takes longest, and may be cut off. OUT, which holds no earlier calibration, gets
# summary.txt, device.txt, gpu_bench.json, gpu.yaml, gpu.samples.csv and logs.tar.gz.
# Exit codes: 0 all that ran passed; 1 a step failed, timed out, or nothing ran; 2 usage.
set -u

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: prove-gpu OUT [BUDGET]" >&2
  exit 2
fi
budget=${2-3 min}
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
bin=$(cd "$(dirname "$0")" && pwd)
logs=$(mktemp -d)
failed=0
proven=0
trap 'rm -rf "$logs"' EXIT

keep_logs() { tar -C "$logs" -czf "$out/logs.tar.gz" .; }
say() { echo "$*" | tee -a "$out/summary.txt"; }

# The libraries of a Python environment, behind those that the caller named: nodes for training
# often have cuBLAS and NCCL there alone.
of_python=$(python3 - 2>/dev/null <<'PYTHON'
import glob, os
import nvidia
found = {os.path.dirname(file) for root in nvidia.__path__
         for name in ("libcublasLt.so.*", "libnccl.so.*")
         for file in glob.glob(os.path.join(root, "*", "lib", name))}
print(":".join(sorted(found)))
PYTHON
) || of_python=""
if [ -n "$of_python" ]; then
  LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$of_python"
  export LD_LIBRARY_PATH
fi

# Prints how many tests GoogleTest counted in the log of a step, as $1 (PASSED or SKIPPED).
count() { sed -n "s/^\[ *$1 *\] \([0-9]*\) test.*/\1/p" "$logs/$name.log" | head -n 1; }

# step NAME SECONDS COMMAND...: its output goes to a log, how it ended to the summary.
step() {
  name=$1
  limit=$2
  shift 2
  begun=$(date +%s)
  timeout -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1
  code=$?
  took=$(($(date +%s) - begun))
  passed=$(count PASSED)
  skipped=$(count SKIPPED)
  case "$code" in
    0) verdict=ok ;;
    124 | 137) verdict="TIMED OUT after $limit s" ;;
    *) verdict="FAILED, exit code $code" ;;
  esac
  [ "$code" -eq 0 ] || failed=1
  if [ "${passed:-0}" -gt 0 ]; then proven=1; fi
  say "$name: $verdict${passed:+, $passed passed}${skipped:+, $skipped skipped}, $took s"
  return "$code"
}

: >"$out/summary.txt"
say "begun $(date -u +%Y-%m-%dT%H:%MZ), LD_LIBRARY_PATH ${LD_LIBRARY_PATH-}"
nvidia-smi >"$out/device.txt" 2>&1 || say "nvidia-smi: does not run"

for program in "$bin"/*_gpu_test; do
  step "${program##*/}" 90 "$program"
done
# Without a GPU gpu_bench says so and measures nothing, which proves as little as skipped tests.
step gpu_bench 180 "$bin/gpu_bench" --benchmark_out="$out/gpu_bench.json" \
  --benchmark_out_format=json --benchmark_counters_tabular=true

# Leaves out --force, which would make a calibration of refused samples; the log says why samples
# were refused. The clocks recorded meanwhile tell whether the GPU's clock was the reason.
watch=""
if command -v nvidia-smi >/dev/null; then
  nvidia-smi --format=csv -lms 200 --query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,\
temperature.gpu,clocks_throttle_reasons.active >"$logs/clocks.csv" 2>&1 &
  watch=$!
fi
step calibrate 420 "$bin/windtunnel-harness" calibrate --backend cuda --ranks 1 \
  --budget "$budget" --out "$out/gpu.yaml"
[ -z "$watch" ] || kill "$watch"
if [ -f "$out/gpu.yaml" ]; then
  step validate 60 "$bin/windtunnel-harness" validate samples "$out/gpu.samples.csv" \
    --calibration "$out/gpu.yaml"
fi
for name in gpu_bench calibrate validate; do
  [ ! -f "$logs/$name.log" ] || cat "$logs/$name.log"
done

if [ "$proven" -eq 0 ]; then
  failed=1
  say "nothing is proven: no test ran"
fi
keep_logs

# Runs last, because it is slow. These tools find what tests on the host's CUDA cannot see: races
# between two barriers (racecheck), memory that is read before it is written (initcheck). Tests of
# times, of intended errors, of large arrays and of ranks, which are processes, are left out.
checked='-*Large*:*Long*:*Tall*:*Many*:*OneOfSome*:*Refuses*:*Timed*:*Times*:*Errors*'
if [ "$proven" -eq 1 ] && command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck initcheck; do
    for program in "$bin"/kernels_*_gpu_test; do
      test=${program##*/kernels_}
      step "$tool-${test%_gpu_test}" 60 compute-sanitizer --tool "$tool" --error-exitcode 99 \
        "$program" --gtest_filter="$checked"
    done
    keep_logs
  done
else
  say "compute-sanitizer: did not run"
fi

say "ended $(date -u +%Y-%m-%dT%H:%MZ)"
exit "$failed"
