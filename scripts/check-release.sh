#!/usr/bin/env bash
# check-release.sh BIN: checks the release programs in BIN, before they are stripped. `make release` ends with it.
#
# transferctl starts within milliseconds because it loads few libraries and has no ICU. One wrong import brings them back:
# docs/decisions/0006-no-libcurl-in-transferctl.md.
set -euo pipefail
bin=$1
program=$bin/transferctl
allowed="libstdc++.so.6 libm.so.6 libgcc_s.so.1 libc.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1"
largest=$((23 << 20))

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

for tool in nm objdump strip; do
  command -v "$tool" >/dev/null || fail "cannot check $program: $tool is missing; install binutils"
done

symbols=$(nm "$program")
[[ $symbols == *_main* ]] || fail "cannot check $program: it has no symbols; build it anew"
if grep -q icudt <<<"$symbols"; then
  fail "$program has ICU's data: a module of it imports Foundation; import FoundationEssentials"
fi

while read -r library; do
  [[ " $allowed " == *" $library "* ]] || fail "$program needs $library: it may load only $allowed"
done < <(objdump -p "$program" | sed -nE 's/^ *NEEDED +//p')

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$program"
size=$(stat -c %s "$stripped")
((size <= largest)) || fail "$program has $size bytes when it is stripped, $largest at most"
