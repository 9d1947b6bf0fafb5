#!/bin/sh
# Compiles the working tree on other systems, each a bare one in a folder of its own, and compares what
# the program says there, and Python, with what it says here.
#
#   try_builds.sh ROOTS PROGRAM PLATFORM...   of debian-12, debian-13, ubuntu-24.04 and aarch64
#
# ROOTS keeps the systems (4 GB each) and what was compiled, so that a second try goes on from there.
# PROGRAM is this machine's build. aarch64 is compiled on x86-64 and run by QEMU.
set -eu
[ $# -ge 3 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
roots=$(cd "$1" && pwd)
program=$(realpath "$2")
shift 2
source=$(cd "$(dirname "$0")/../.." && pwd)

# shellcheck source=tests/packages/bare_roots.sh
. "$source/tests/packages/bare_roots.sh"
needs_bare_roots

# Debian's packages to compile for another architecture; docs/reference/platforms.md says how.
native="crossbuild-essential-arm64 cmake ninja-build ccache pkg-config git nodejs npm gzip file \
  protobuf-compiler librandom123-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev \
  libeigen3-dev pybind11-dev \
  qemu-user-static"
foreign="libsimgrid-dev libboost-dev libboost-context-dev libfmt-dev libxxhash-dev libisal-dev \
  libsqlite3-dev zlib1g-dev libyaml-cpp-dev libprotobuf-dev coinor-libclp-dev libre2-dev \
  libcpp-httplib-dev libpython3-dev libgtest-dev libgmock-dev libbenchmark-dev"

# Of a place between this machine and the registries, for npm.
certificates=/etc/ssl/certs/ca-certificates.crt

# system NAME SUITE: $roots/NAME with the tree in /opt/src. Every file is as new as the copy, so that
# all is compiled again, by ccache: what was compiled of an earlier copy may be younger than a change
# made after that copy.
system() {
  if [ ! -d "$roots/$1/opt/src" ]; then
    bare_root "$2" "$1"
    mkdir "$roots/$1/opt/src"
    touch "$roots/$1/opt/certificates.crt"
    [ ! -f $certificates ] || cp $certificates "$roots/$1/opt/certificates.crt"
  fi
  find "$roots/$1/opt/src" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  (cd "$source" && git ls-files -z --cached --others --exclude-standard |
    xargs -0 ls -d 2>/dev/null | tar -cf - -T -) | tar -C "$roots/$1/opt/src" -xmf -
}

# build NAME COMMAND: in the tree of $roots/NAME.
build() {
  say "$1: compiling; $roots/$1/opt/log says how far"
  in_root "$1" "export NODE_EXTRA_CA_CERTS=/opt/certificates.crt CCACHE_DIR=/opt/ccache; cd src
    apt-get update -qq; $2" >"$roots/$1/opt/log" 2>&1 ||
    fail "$1: $(tail -n 3 "$roots/$1/opt/log")"
}

# What is asked everywhere: answers FOLDER PROGRAM..., in the tree's root.
# shellcheck disable=SC2016  # read where it runs
answers='answers() {
  folder=$1
  shift
  mkdir -p "$folder"
  for scenario in small llama3-405b mixtral-shared-nics gpt3-175b-a100 protection-gemini; do
    "$@" run scenarios/$scenario.yaml --json -q >"$folder/$scenario.json"
  done
  "$@" plan --cluster "64 x dgx-h100" --model llama3-70b --tokens "2 T" -q >"$folder/plan.txt"
}'

# compare NAME: the same words, and numbers that differ by rounding at most: mathematical libraries
# differ in a last digit.
compare() {
  python3 - "$roots/here" "$roots/$1/opt/said" "$1" <<'PYTHON' || fail "$1 says something else"
import json, pathlib, re, sys

def said(folder, file):  # but of which commit it is: there the tree has none
    return re.sub(rb'"commit": "[^"]*"', b'"commit": ""', (folder / file.name).read_bytes())

def differ(a, b, where):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return max((differ(a[key], b[key], f"{where}.{key}") for key in a), default=0)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return max((differ(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b))), default=0)
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) / max(abs(a), abs(b), 1e-300)
    if a == b:
        return 0
    sys.exit(f"{where}: {a!r} here, {b!r} there")

here, there, name = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
for file in sorted(here.iterdir()):
    a, b = said(here, file), said(there, file)
    if a == b:
        print(f"{name}: {file.name}: the same bytes", file=sys.stderr)
        continue
    if file.suffix != ".json":
        sys.exit(f"{file.name} has other bytes")
    largest = differ(json.loads(a), json.loads(b), file.stem)
    if largest > 1e-9:
        sys.exit(f"{file.name}: {largest:.1e} is more than rounding")
    print(f"{name}: {file.name}: the same but for rounding, at most {largest:.0e}", file=sys.stderr)
PYTHON
}

python='import json, windtunnel as wt
said = wt.load("scenarios/small.yaml").run()["iteration"]["time_s"]
assert said == json.load(open("/opt/said/small.json"))["iteration"]["time_s"], said'

suite_of() {
  case "$1" in
    debian-12 | aarch64) echo bookworm ;;
    debian-13) echo trixie ;;
    ubuntu-24.04) echo noble ;;
    *) return 1 ;;
  esac
}

for platform in "$@"; do
  suite_of "$platform" >/dev/null ||
    fail "'$platform' is none of debian-12, debian-13, ubuntu-24.04 and aarch64"
done
rm -rf "$roots/here"
(cd "$source" && eval "$answers" && answers "$roots/here" "$program")

for platform in "$@"; do
  system "$platform" "$(suite_of "$platform")"
  rm -rf "$roots/$platform/opt/said"
  case "$platform" in
    aarch64)
      build "$platform" "dpkg --add-architecture arm64; apt-get update -qq
        apt-get install -y -qq --no-install-recommends $native \
          $(for package in $foreign; do printf '%s:arm64 ' "$package"; done)
        cmake --preset aarch64
        cmake --build --preset aarch64 --target windtunnel windtunnel-validate \
          windtunnel_library windtunnel_python
        qemu-aarch64-static build/aarch64/bin/windtunnel-validate validate --help >/dev/null
        $answers
        answers /opt/said qemu-aarch64-static build/aarch64/bin/windtunnel"
      ;;
    *)
      build "$platform" "./dev package
        $answers
        answers /opt/said build/release/bin/windtunnel
        PYTHONPATH=build/release/python python3 -c '$python'"
      ;;
  esac
  compare "$platform"
done
