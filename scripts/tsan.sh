#!/usr/bin/env bash
# The tests of the engine and of the threads under the thread sanitizer. Any report fails it, with status 66 at the latest when the tests end.
#
# Nothing is suppressed but what scripts/tsan.supp names with its reason; scripts/tsan-mutex.c tells the sanitizer what the
# Swift runtime does not. The build is of its own, in .build-tsan.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$PWD/.build-tsan
swift build --build-tests --sanitize=thread --scratch-path "$scratch"

# Swift's calling convention is clang's alone; the toolchain has one.
clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
[[ -x $clang ]] || clang=clang
"$clang" -O2 -Wall -Werror -shared -fPIC -o "$scratch/tsan-mutex.so" scripts/tsan-mutex.c

# Few tests at a time: under the sanitizer each costs many times its time, and some look at clocks.
LD_PRELOAD=$scratch/tsan-mutex.so \
  TSAN_OPTIONS="exitcode=66 suppressions=$PWD/scripts/tsan.supp ${TSAN_OPTIONS-}" \
  SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4} \
  swift test --skip-build --sanitize=thread --disable-xctest --filter 'TransferEngineTests|ThreadsTests' --scratch-path "$scratch"
