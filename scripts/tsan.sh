#!/usr/bin/env bash
# Runs the tests of the engine and of the threads under the thread sanitizer. A report makes the script fail, with status 66 at
# the end of the tests at the latest.
#
# Only the reports in scripts/tsan.supp are suppressed, with a reason for each. scripts/tsan-mutex.c reports to the sanitizer
# what the Swift runtime does not. The build has its own directory, .build-tsan.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$PWD/.build-tsan
swift build --build-tests --sanitize=thread --scratch-path "$scratch"

# Only clang has Swift's calling convention; the toolchain includes clang.
clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
[[ -x $clang ]] || clang=clang
"$clang" -O2 -Wall -Werror -shared -fPIC -o "$scratch/tsan-mutex.so" scripts/tsan-mutex.c

# Few tests run at once: the sanitizer makes each one many times slower, and some check times.
LD_PRELOAD=$scratch/tsan-mutex.so \
  TSAN_OPTIONS="exitcode=66 suppressions=$PWD/scripts/tsan.supp ${TSAN_OPTIONS-}" \
  SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4} \
  swift test --skip-build --sanitize=thread --disable-xctest --filter 'TransferEngineTests|ThreadsTests' --scratch-path "$scratch"
