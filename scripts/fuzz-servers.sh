#!/usr/bin/env bash
# Lets servers answer the daemon at random, 1,000 conversations by HTTP, FTP, tus and S3, and prints the seed that decides
# every answer.
#
#   SEED=5             a seed that was printed
#   CONVERSATIONS=1000
#   FIRST=0            the number of the first one: a finding says which it was
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --build-tests
export TRANSFERD_FUZZ_SEED=${SEED-$((RANDOM * 32768 + RANDOM))}
export TRANSFERD_FUZZ_CONVERSATIONS=${CONVERSATIONS-1000} TRANSFERD_FUZZ_FIRST=${FIRST-0}
echo "== seed $TRANSFERD_FUZZ_SEED"
swift test --skip-build --disable-xctest --filter ServerFuzzTests
