#!/bin/sh
# Tries what `./dev package` made where nothing is installed: the Debian package on a bare Debian 12,
# from its installation to its purge, and the tarball there and on a bare Debian 13. Every place has
# to give the same bytes.
#
#   try_packages.sh PACKAGES [SUITE_OF_DEB SUITE_OF_TARBALL]
#
# Exits with 77, after a line that says why, where it cannot be tried: it needs root (chroot, a mount
# namespace), debootstrap, and a mirror of Debian's (DEBIAN_MIRROR).
set -eu
packages=$1
deb_suite=${2-bookworm}
tarball_suite=${3-trixie}
mirror=${DEBIAN_MIRROR-http://deb.debian.org/debian}
source=$(cd "$(dirname "$0")/../.." && pwd)

say() { echo "try_packages: $*" >&2; }
skip() { say "skipped: $*"; exit 77; }
fail() { say "failed: $*"; exit 1; }

deb=$(find "$packages" -name 'windtunnel_*.deb' 2>/dev/null)
tarball=$(find "$packages" -name 'windtunnel-*.tar.xz' 2>/dev/null)
if [ -z "$deb" ] || [ -z "$tarball" ]; then
  skip "nothing packed in $packages; see ./dev package"
fi
[ "$(id -u)" = 0 ] || skip "needs root"
command -v debootstrap >/dev/null || skip "needs debootstrap (Debian package of that name)"
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces here (unshare)"

roots=$(mktemp -d)
trap 'rm -rf --one-file-system "$roots"' EXIT
trap 'exit 1' INT TERM

# bare_root SUITE: $roots/SUITE, with the tarball unpacked in /opt and a scenario.
bare_root() {
  say "a bare $1 from $mirror"
  debootstrap --variant=minbase "$1" "$roots/$1" "$mirror" >"$roots/log" 2>&1 ||
    skip "no bare $1: $(tail -n 1 "$roots/log")"
  cp /etc/resolv.conf "$roots/$1/etc/"
  tar -C "$roots/$1/opt" -xf "$tarball"
  cp "$source/scenarios/small.yaml" "$roots/$1/opt/"
}

# in_root SUITE COMMAND: its mounts and processes end with it. Without /proc a program does not find
# the libraries beside it.
in_root() {
  unshare --mount --pid --fork chroot "$roots/$1" /bin/sh -ec \
    "mount -t proc proc /proc; cd /opt; export LC_ALL=C DEBIAN_FRONTEND=noninteractive; $2"
}

# programs SUITE PROGRAM RESULTS: commands that a user starts with; RESULTS is a folder of the root.
programs() {
  in_root "$1" "mkdir $3; $2 --version >&2; $2 run small.yaml --out $3/out >/dev/null
    $2 run small.yaml --json -q >$3/run.json
    $2 plan --cluster '64 x dgx-h100' --model llama3-70b --tokens '2 T' -q >$3/plan.txt" ||
    fail "$2 on $1"
  grep -q '</html>' "$roots/$1$3/out/report.html" || fail "no page of $2 on $1"
}

python="import windtunnel as wt; print(repr(wt.load('small.yaml').run()['iteration']['time_s']))"
# same_time SUITE RESULTS VARIABLES: Python says the time that the program said.
same_time() {
  said=$(in_root "$1" "$3 python3 -c \"$python\"") || fail "Python on $1 ($3)"
  grep -q "\"time_s\": *$said\b" "$roots/$1$2/run.json" ||
    fail "Python on $1 says $said, and the program something else"
  say "Python on $1: $said s, as the program"
}

name=$(basename "$tarball" .tar.xz)
beside="PYTHONPATH=/opt/$name/lib/python3/dist-packages"

bare_root "$tarball_suite"
programs "$tarball_suite" "/opt/$name/bin/windtunnel" /opt/of-tarball
in_root "$tarball_suite" "apt-get install -y -qq --no-install-recommends python3 >/dev/null 2>&1" ||
  skip "no python3 for $tarball_suite from $mirror"
if said=$(in_root "$tarball_suite" "$beside python3 -c 'import windtunnel' 2>&1"); then
  same_time "$tarball_suite" /opt/of-tarball "$beside"
else
  said=$(printf '%s\n' "$said" | tail -n 1)
  case "$said" in
    "ImportError: windtunnel has no extension for Python "*) say "Python on $tarball_suite: $said" ;;
    *) fail "Python on $tarball_suite: $said" ;;
  esac
fi

bare_root "$deb_suite"
programs "$deb_suite" "/opt/$name/bin/windtunnel" /opt/of-tarball
in_root "$deb_suite" "apt-get install -y -qq --no-install-recommends python3 >/dev/null 2>&1" ||
  skip "no python3 for $deb_suite from $mirror"
same_time "$deb_suite" /opt/of-tarball "$beside"
cp "$deb" "$roots/$deb_suite/opt/"
in_root "$deb_suite" "apt-get install -y -qq --no-install-recommends ./${deb##*/} >/opt/log 2>&1" ||
  fail "installing: $(tail -n 3 "$roots/$deb_suite/opt/log")"
programs "$deb_suite" windtunnel /opt/of-deb
same_time "$deb_suite" /opt/of-deb PYTHONPATH=
in_root "$deb_suite" "dpkg -L windtunnel >/opt/files; apt-get purge -y -qq windtunnel >/dev/null 2>&1"
left=$(in_root "$deb_suite" "find / -xdev -path /proc -prune -o -path /opt -prune -o -iname '*windtunnel*' -print")
[ -z "$left" ] || fail "after the purge there is still: $left"
grep -q /usr/bin/windtunnel "$roots/$deb_suite/opt/files" || fail "the package has no program"
say "$deb_suite: installed, run, purged without a trace"

of=$roots/$deb_suite/opt
for file in run.json plan.txt out/report.html; do
  for other in "$of/of-tarball" "$roots/$tarball_suite/opt/of-tarball"; do
    cmp -s "$of/of-deb/$file" "$other/$file" || fail "$file of $other is not that of the package"
  done
done
say "the same bytes from the package on $deb_suite and the tarball on $deb_suite and $tarball_suite"
