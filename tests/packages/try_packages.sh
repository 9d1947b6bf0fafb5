#!/bin/sh
# Tries what `./dev package` made where nothing is installed: the Debian package on a bare Debian 12,
# from its installation to its purge, and wheel and tarball there and on a bare Debian 13.
# Every place has to give the same bytes.
#
#   try_packages.sh PACKAGES [SUITE_OF_DEB SUITE_OF_TARBALL]
set -eu
packages=$1
deb_suite=${2-bookworm}
tarball_suite=${3-trixie}
source=$(cd "$(dirname "$0")/../.." && pwd)

# shellcheck source=tests/packages/bare_roots.sh
. "$source/tests/packages/bare_roots.sh"

deb=$(find "$packages" -name 'windtunnel_*.deb' 2>/dev/null)
tarball=$(find "$packages" -name 'windtunnel-*.tar.xz' 2>/dev/null)
if [ -z "$deb" ] || [ -z "$tarball" ]; then
  skip "nothing packed in $packages; see ./dev package"
fi
needs_bare_roots

roots=$(mktemp -d)
trap 'rm -rf --one-file-system "$roots"' EXIT
trap 'exit 1' INT TERM

# with_tarball SUITE: $roots/SUITE, with the tarball unpacked in /opt and a scenario.
with_tarball() {
  bare_root "$1"
  tar -C "$roots/$1/opt" -xf "$tarball"
  cp "$source/scenarios/small.yaml" "$roots/$1/opt/"
}

# programs SUITE PROGRAM RESULTS: commands that a user starts with; RESULTS is a folder of the root.
programs() {
  in_root "$1" "mkdir $3; $2 --version >&2; $2 run small.yaml --out $3/out >/dev/null
    $2 run small.yaml --json -q >$3/run.json
    $2 plan --cluster '64 x dgx-h100' --model llama3-70b --tokens '2 T' -q >$3/plan.txt
    [ $3 = /opt/of-wheel ] || $2 validate --help >/dev/null" ||
    fail "$2 on $1"
  grep -q '</html>' "$roots/$1$3/out/report.html" || fail "no page of $2 on $1"
}

python='import json, sys, windtunnel as wt
said, run = wt.load("small.yaml").run(), json.load(open(sys.argv[1]))
print(said["iteration"]["time_s"])
sys.exit(said["iteration"] != run["iteration"] and "and the program something else")'
# same_figures SUITE RESULTS VARIABLES: Python says what the program said.
same_figures() {
  said=$(in_root "$1" "$3 python3 -c '$python' $2/run.json") || fail "Python on $1 ($3)"
  say "Python on $1: $said s, as the program"
}

readme='import json, sys, windtunnel as wt
plan = wt.command("plan", cluster="64 x dgx-h100", model="llama3-70b", tokens="2 T")
print(plan["schema"])
sys.exit(plan != json.load(open(sys.argv[1])) and "and the program something else")'
# wheel_on SUITE: pip installs the wheel there, and the plan of README is the same from Python and the
# program, whether the extension is of that Python or not.
wheel=$(find "$packages" -name 'windtunnel-*.whl')
wheel_on() {
  in_root "$1" "apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1" ||
    skip "no python3-venv for $1, which the wheel is tried in"
  cp "$wheel" "$roots/$1/opt/"
  in_root "$1" "python3 -m venv /opt/venv && /opt/venv/bin/pip install -q --no-index /opt/${wheel##*/}" ||
    fail "installing the wheel on $1"
  programs "$1" /opt/venv/bin/windtunnel /opt/of-wheel
  said=$(in_root "$1" "/opt/venv/bin/windtunnel plan --cluster '64 x dgx-h100' --model llama3-70b \
    --tokens '2 T' --json -q >plan.json; /opt/venv/bin/python3 -c '$readme' plan.json") ||
    fail "README's plan from Python on $1"
  say "README's plan from Python on $1, as the program: $said"
}

name=$(basename "$tarball" .tar.xz)
beside="PYTHONPATH=/opt/$name/lib/python3/dist-packages"

with_tarball "$tarball_suite"
programs "$tarball_suite" "/opt/$name/bin/windtunnel" /opt/of-tarball
in_root "$tarball_suite" "apt-get install -y -qq --no-install-recommends python3 >/dev/null 2>&1" ||
  skip "no python3 for $tarball_suite"
if said=$(in_root "$tarball_suite" "$beside python3 -c 'from windtunnel import load' 2>&1"); then
  same_figures "$tarball_suite" /opt/of-tarball "$beside"
else
  said=$(printf '%s\n' "$said" | tail -n 1)
  case "$said" in
    "ImportError: windtunnel has no extension for Python "*) say "Python on $tarball_suite: $said" ;;
    *) fail "Python on $tarball_suite: $said" ;;
  esac
fi

wheel_on "$tarball_suite"

with_tarball "$deb_suite"
programs "$deb_suite" "/opt/$name/bin/windtunnel" /opt/of-tarball
in_root "$deb_suite" "apt-get install -y -qq --no-install-recommends python3 >/dev/null 2>&1" ||
  skip "no python3 for $deb_suite"
same_figures "$deb_suite" /opt/of-tarball "$beside"
wheel_on "$deb_suite"
same_figures "$deb_suite" /opt/of-wheel PATH=/opt/venv/bin:/usr/bin
cp "$deb" "$roots/$deb_suite/opt/"
in_root "$deb_suite" "apt-get install -y -qq --no-install-recommends ./${deb##*/} >/opt/log 2>&1" ||
  fail "installing: $(tail -n 3 "$roots/$deb_suite/opt/log")"
programs "$deb_suite" windtunnel /opt/of-deb
same_figures "$deb_suite" /opt/of-deb PYTHONPATH=
in_root "$deb_suite" "dpkg -L windtunnel >/opt/files; apt-get purge -y -qq windtunnel >/dev/null 2>&1"
left=$(in_root "$deb_suite" "find / -xdev -path /proc -prune -o -path /opt -prune -o -iname '*windtunnel*' -print")
[ -z "$left" ] || fail "after the purge there is still: $left"
grep -q /usr/bin/windtunnel "$roots/$deb_suite/opt/files" || fail "the package has no program"
say "$deb_suite: installed, run, purged without a trace"

of=$roots/$deb_suite/opt
for file in run.json plan.txt out/report.html; do
  for other in "$of/of-tarball" "$of/of-wheel" "$roots/$tarball_suite/opt/of-tarball" \
    "$roots/$tarball_suite/opt/of-wheel"; do
    [ -f "$other/$file" ] || fail "$other has no $file"
    cmp -s "$of/of-deb/$file" "$other/$file" || fail "$file of $other is not that of the package"
  done
done
say "the same bytes from the package on $deb_suite and the tarball on $deb_suite and $tarball_suite"
