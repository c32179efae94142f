#!/usr/bin/env bash
# Installs the Debian packages that a task needs and that are not there yet.
#
#   scripts/install-dependencies.sh [build|test|bench]…      (build alone when nothing is named)
#
# Nothing is run when nothing is missing, so that this may stand before every task.
set -euo pipefail

build=(libcurl4-openssl-dev libsqlite3-dev pkg-config)
test=(nginx-light openssl curl strace python3)
bench=("${test[@]}" aria2 wget2 rclone hyperfine gcc linux-perf)

wanted=()
for task in "${@:-build}"; do
  case $task in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    bench) wanted+=("${bench[@]}") ;;
    *)
      echo "usage: $0 [build|test|bench]..." >&2
      exit 64
      ;;
  esac
done

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
echo "missing: ${missing[*]}"

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo may not ask for a password: better to say so than to wait for ever.
  if [ -t 0 ]; then
    as_root=(sudo)
  else
    as_root=(sudo --non-interactive)
  fi
  if ! command -v sudo >/dev/null || ! "${as_root[@]}" true; then
    echo "cannot install them: neither root nor sudo. Please run as root:" >&2
    echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

# Another apt may be at work, as it is on a machine that has just booted: wait for its lock.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"
}

apt update -q
apt install -q -y --no-install-recommends "${missing[@]}"
