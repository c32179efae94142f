#!/usr/bin/env bash
# Runs the daemon against servers with random responses: 1,000 conversations with HTTP, FTP, tus and S3. Prints the seed of
# all responses.
#
#   SEED=5             a seed that a run printed, to repeat that run
#   CONVERSATIONS=1000 how many conversations
#   FIRST=0            the number of the first conversation; a finding names its number
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --build-tests
export TRANSFERD_FUZZ_SEED=${SEED-$((RANDOM * 32768 + RANDOM))}
export TRANSFERD_FUZZ_CONVERSATIONS=${CONVERSATIONS-1000} TRANSFERD_FUZZ_FIRST=${FIRST-0}
echo "== seed $TRANSFERD_FUZZ_SEED"
swift test --skip-build --disable-xctest --filter ServerFuzzTests
