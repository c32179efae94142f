#!/usr/bin/env bash
# install-dependencies.sh build|demo|test|bench: installs missing packages with apt-get. Does nothing if none is missing.
set -euo pipefail

usage() {
  echo "usage: ${0##*/} build|demo|test|bench" >&2
  exit 64
}

# Each word lists alternative packages. If none of them is installed, the first one is.
build="libcurl4-openssl-dev libssl-dev libexpat1-dev zlib1g-dev libbrotli-dev libzstd-dev libsqlite3-dev pkg-config|pkgconf binutils"
demo="$build nginx-light|nginx|nginx-core|nginx-full|nginx-extras curl python3|python3-minimal"
test="$demo apache2-bin openssl strace systemd nftables tinyproxy-bin microsocks gunicorn python3-httpbin python3-h2 iproute2 openssh-server openssh-client python3-pyftpdlib python3-openssl python3-venv"
bench="$test aria2 wget wget2 rclone awscli gcc libc6-dev"
mode=${1-}
case $mode in
  build) wanted=$build ;;
  demo) wanted=$demo ;;
  test) wanted=$test ;;
  bench) wanted=$bench ;;
  *) usage ;;
esac

if ! command -v swift >/dev/null; then
  echo "cannot build: swift is not on PATH. Install Swift 6.2 or newer: https://www.swift.org/install/linux/" >&2
  exit 1
fi

if ! command -v dpkg-query >/dev/null; then
  echo "not a Debian system: make sure that these are installed: $wanted" >&2
  exit 0
fi

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

missing=()
for choice in $wanted; do
  IFS='|' read -ra names <<<"$choice"
  found=
  for name in "${names[@]}"; do
    if is_installed "$name"; then
      found=1
      break
    fi
  done
  [[ $found ]] || missing+=("${names[0]}")
done
# The servers of the upload tests are Python packages in a virtual environment. It is outside the checkout, so that all
# checkouts share it. The stamp is a copy of the list from which it was made.
install_peers() {
  [[ $mode == test || $mode == bench ]] || return 0
  local list peers stamp
  list=$(dirname "$0")/test-peers.txt
  peers=${TRANSFERD_TEST_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/transferd/peers}
  stamp=$peers/installed.txt
  ! cmp -s "$list" "$stamp" || return 0
  echo "installing the tests' servers into $peers …" >&2
  if ! python3 -m venv "$peers" || ! "$peers/bin/python" -m pip install --quiet --upgrade -r "$list"; then
    echo "cannot install the tests' servers: check python3 -m venv, pip and the package index" >&2
    exit 1
  fi
  cp "$list" "$stamp"
}

((${#missing[@]})) || {
  install_peers
  exit 0
}

if ((EUID == 0)); then
  as_root=(env)
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
  as_root=(sudo env)
else
  echo "cannot install the missing packages: not root, and sudo does not work; run as root:" >&2
  echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
if ! command -v apt-get >/dev/null; then
  echo "cannot install the missing packages: apt-get is not on PATH; install them by hand: ${missing[*]}" >&2
  exit 1
fi

# The packages of nginx and sshd start them at once and at every boot. The tests need only the programs: forbid the start
# while apt runs (Debian policy 9.3.3), and disable the services below. An existing policy stays.
policy=/usr/sbin/policy-rc.d
has_policy=
services=()
[[ " ${missing[*]} " != *" nginx"* ]] || services+=(nginx.service)
[[ " ${missing[*]} " != *" openssh-server "* ]] || services+=(ssh.service)
forget_policy() {
  [[ ! $has_policy ]] || "${as_root[@]}" rm -f "$policy"
}
trap forget_policy EXIT
if ((${#services[@]})) && [[ ! -e $policy ]]; then
  has_policy=1
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" sh -c "cat >$policy && chmod 755 $policy"
fi

apt() {
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l \
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$log" 2>&1
}
log=$(mktemp)
trap 'forget_policy; rm -f "$log"' EXIT

echo "installing ${missing[*]} …" >&2
# One source that cannot be updated is not fatal: the install reports packages that are really missing.
apt update || true
if ! apt install -y --no-install-recommends "${missing[@]}"; then
  cat "$log" >&2
  echo "cannot install ${missing[*]}" >&2
  exit 1
fi

if ((${#services[@]})) && command -v systemctl >/dev/null; then
  "${as_root[@]}" systemctl disable --quiet "${services[@]}" 2>/dev/null || true
fi

install_peers
