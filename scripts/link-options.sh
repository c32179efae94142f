#!/usr/bin/env bash
# link-options.sh: prints how the release programs are linked, as options of `swift build` in the project's directory.
#
# A call of transferctl takes milliseconds, and much of that is loading the program. The reasons and figures are in
# docs/performance.md ("One call of transferctl"). What a system cannot do is left out: the programs work without it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Without exported symbols the linker drops the parts of Swift's libraries that are not used.
options=(-Xlinker --no-export-dynamic)

# In this directory the linker finds the C++ library as an archive only, and takes what is used.
archive=$(clang -print-file-name=libstdc++.a 2>/dev/null || true)
if [[ $archive == /* ]]; then
  archives=.build/archives
  mkdir -p "$archives"
  ln -sfn "$(realpath "$archive")" "$archives/libstdc++.a"
  options+=(-Xswiftc -L -Xswiftc "$archives")
fi

if command -v ld.lld >/dev/null; then
  # Functions that every call runs stand side by side, so that fewer pages are read.
  order=packaging/functions.order
  options+=(-Xswiftc -use-ld=lld -Xlinker "--symbol-ordering-file=$order" -Xlinker --no-warn-symbol-ordering)
  # Pointers to relocate take bits in place of 24 bytes each. The dynamic loader knows this form since glibc 2.36.
  version=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
  IFS=' .' read -r name major minor _ <<<"$version"
  if [[ $name == glibc ]] && ((major > 2 || (major == 2 && minor >= 36))); then
    options+=(-Xlinker -z -Xlinker pack-relative-relocs)
  fi
fi

echo "${options[*]}"
