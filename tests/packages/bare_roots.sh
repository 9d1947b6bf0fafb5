# shellcheck shell=sh
# Bare systems to try things on, in folders of $roots; sourced by the scripts beside it. They exit with
# 77, after a line that says why, where nothing can be tried: it needs root (chroot, a mount
# namespace), debootstrap, and a mirror (DEBIAN_MIRROR, UBUNTU_MIRROR).
# shellcheck disable=SC2154  # $roots

say() { echo "$(basename "$0" .sh): $*" >&2; }
skip() { say "skipped: $*"; exit 77; }
fail() { say "failed: $*"; exit 1; }

needs_bare_roots() {
  [ "$(id -u)" = 0 ] || skip "needs root"
  command -v debootstrap >/dev/null || skip "needs debootstrap (Debian package of that name)"
  unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces here (unshare)"
}

# bare_root SUITE [NAME]: $roots/NAME, or $roots/SUITE.
bare_root() {
  case "$1" in
    noble) # whose keys Debian does not have
      from="${UBUNTU_MIRROR-http://archive.ubuntu.com/ubuntu} /usr/share/debootstrap/scripts/gutsy"
      options="--no-check-gpg --components=main,universe"
      ;;
    *)
      from=${DEBIAN_MIRROR-http://deb.debian.org/debian}
      options=""
      ;;
  esac
  say "a bare $1 from ${from%% *}"
  # shellcheck disable=SC2086  # one word per option
  debootstrap --variant=minbase $options "$1" "$roots/${2-$1}" $from >"$roots/log" 2>&1 ||
    skip "no bare $1: $(tail -n 1 "$roots/log")"
  cp /etc/resolv.conf "$roots/${2-$1}/etc/"
}

# in_root NAME COMMAND: its mounts and processes end with it. Without /proc a program does not find
# the libraries beside it.
in_root() {
  unshare --mount --pid --fork chroot "$roots/$1" /bin/sh -ec \
    "mount -t proc proc /proc; cd /opt; export LC_ALL=C DEBIAN_FRONTEND=noninteractive; $2"
}
