#!/usr/bin/env bash
# Runs libFuzzer on the parsers, one case after the other, under the address sanitizer. Fails if there is a finding.
#
#   scripts/fuzz.sh [--build | --merge]
#   FUZZ_SECONDS=60        for each case
#   FUZZ_CASE="url xml"    only these; `--list` prints all
#   FUZZ_ARGUMENTS=…       more arguments for libFuzzer
#
# The build has its own directory, .build-fuzz. New inputs of the fuzzer go to .build-fuzz/corpora/CASE, and inputs of findings
# to .build-fuzz/findings. The corpora in the repository are only read. --merge adds to them the inputs of
# .build-fuzz/corpora that reach new code: review these files before you commit them.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$PWD/.build-fuzz
corpora=$PWD/Tests/FuzzTests/Corpora
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
runtime=$toolchain/lib/swift/clang/lib/linux/libclang_rt.fuzzer_no_main-$(uname -m).a
if [[ ! -f $runtime ]]; then
  echo "cannot fuzz: this Swift toolchain has no libFuzzer ($runtime); install one from swift.org" >&2
  exit 1
fi

TRANSFERD_FUZZING=1 swift build -c release --product fuzzer --scratch-path "$scratch" \
  -Xlinker "$runtime" -Xlinker -lstdc++
fuzzer=$scratch/release/fuzzer
case ${1-} in
  --build) exit ;;
  --list) exec "$fuzzer" --list ;;
esac

# The leak detector mistakes Swift's metadata for leaks.
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-}
# The runtime's backtraces are slow and read memory that the sanitizer forbids.
export SWIFT_BACKTRACE=enable=no
mkdir -p "$scratch/findings"
failed=()
while read -r name length; do
  if [[ -n ${FUZZ_CASE-} && " $FUZZ_CASE " != *" $name "* ]]; then continue; fi
  learned=$scratch/corpora/$name
  mkdir -p "$learned"
  if [[ ${1-} == --merge ]]; then
    "$fuzzer" "$name" -merge=1 "$corpora/$name" "$learned"
    continue
  fi
  echo "== $name"
  "$fuzzer" "$name" -max_total_time="${FUZZ_SECONDS-60}" -max_len="$length" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$scratch/findings/$name-" ${FUZZ_ARGUMENTS-} "$learned" "$corpora/$name" \
    </dev/null || failed+=("$name")
done < <("$fuzzer" --list)

if ((${#failed[@]})); then
  echo "== findings: ${failed[*]}" >&2
  for name in "${failed[@]}"; do
    for file in "$scratch/findings/$name-"*; do
      echo "to replay: ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no $fuzzer $name $file" >&2
    done
  done
  echo "copy the file to Tests/FuzzTests/Corpora/CASE/ under a name that describes it; the tests replay it there" >&2
  exit 1
fi
echo "== no findings"
