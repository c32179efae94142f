#!/usr/bin/env bash
# install.sh BIN DESTDIR PREFIX: installs the release programs, completions, units and the configuration sample.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1 root=$2 prefix=$3

put() { # MODE FROM TO
  install -D -m "$1" "$2" "$root$3"
  echo "$root$3"
}

for program in transferd transferctl; do
  install -D -m 755 -s "$bin/$program" "$root$prefix/bin/$program"
  echo "$root$prefix/bin/$program"
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
completion() { # SHELL TO
  "$bin/transferctl" --generate-completion-script "$1" >"$scratch/$1"
  put 644 "$scratch/$1" "$2"
}
completion bash "$prefix/share/bash-completion/completions/transferctl"
completion zsh "$prefix/share/zsh/site-functions/_transferctl"
completion fish "$prefix/share/fish/vendor_completions.d/transferctl.fish"

put 644 packaging/transferd.sysusers "$prefix/lib/sysusers.d/transferd.conf"
put 644 packaging/transferd.yaml "$prefix/share/doc/transferd/transferd.yaml"

# The units name /usr/local/bin/transferd; PREFIX replaces /usr/local.
for scope in system user; do
  for unit in packaging/"$scope"/*; do
    [[ -f $unit ]] || continue
    sed -E "s#/usr(/local)?/bin/transfer#$prefix/bin/transfer#g" "$unit" >"$scratch/unit"
    put 644 "$scratch/unit" "$prefix/lib/systemd/$scope/${unit##*/}"
  done
done
