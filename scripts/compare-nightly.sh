#!/usr/bin/env bash
# compare-nightly.sh: what transferd, wget, aria2 and rclone do when a cron job fetches "what changed", night after night. It
# prints the tables of docs/comparison.md. nginx has the files; the numbers of bytes and responses are those of its log.
#
#   TRANSFERD_BIN_DIR   the programs; default: .build/release
#
# A tool that is not installed is left out (scripts/install-dependencies.sh bench installs all).
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${TRANSFERD_BIN_DIR:-.build/release}" && pwd)
# shellcheck source=scripts/nginx-here.sh
source scripts/nginx-here.sh
# shellcheck source=scripts/daemon-here.sh
source scripts/daemon-here.sh

work=$(mktemp -d)
www=$work/www
nginx_pid='' daemon_pid=''
finish() {
  stop_ours "$daemon_pid" transferd
  stop_ours "$nginx_pid" "$work"
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

mkdir -p "$www/tree/a/b" "$www/big"
serve_with_nginx "$work/nginx" "$www" \
  "log_format bytes '\$request_method \$status \$body_bytes_sent'; access_log $work/access.log bytes;" \
  "autoindex on; location /big/ { limit_rate 8m; }"
base=http://127.0.0.1:$nginx_port

start_daemon

# The commands of a crontab line, as their manuals suggest.
fetch_list() { # TOOL DIR
  case $1 in
    transferd) "$bin/transferctl" add -i "$work/urls" -d "$2" --if-changed --wait ;;
    wget) wget -q -N -P "$2" -i "$work/urls" ;;
    aria2) aria2c -q --conditional-get=true --allow-overwrite=true --remote-time=true -d "$2" -i "$work/urls" ;;
    rclone) return 2 ;;
  esac
}
fetch_tree() { # TOOL DIR
  case $1 in
    transferd) "$bin/transferctl" add --recursive "$base/tree/" -d "$2" --if-changed --wait ;;
    wget) wget -q -r -np -nH --cut-dirs=1 -R 'index.html*' -N -P "$2" "$base/tree/" ;;
    aria2) return 2 ;;
    rclone) rclone --config /dev/null -q copy --http-url "$base/" :http:tree "$2" ;;
  esac
}
fetch_big() { # TOOL DIR
  case $1 in
    transferd) "$bin/transferctl" add "$base/big/f.bin" -d "$2" --if-changed --wait ;;
    wget) exec wget -q -N -P "$2" "$base/big/f.bin" ;;
    aria2) exec aria2c -q --conditional-get=true --allow-overwrite=true --remote-time=true -d "$2" "$base/big/f.bin" ;;
    rclone) exec rclone --config /dev/null -q copy --http-url "$base/" :http:big "$2" ;;
  esac
}

tools=(transferd)
for tool in wget aria2 rclone; do
  command -v "${tool/aria2/aria2c}" >/dev/null && tools+=("$tool") || echo "$tool is not installed" >&2
done

new_files() { # every name with its own 4 KiB, of the same time
  local name
  rm -rf "$www/tree"
  mkdir -p "$www/tree/a/b"
  for name in {1..40} a/{1..30} a/b/{1..30}; do
    head -c 4096 /dev/urandom >"$www/tree/$name"
    touch -d '2026-01-01 UTC' "$www/tree/$name"
  done
}
change() { # a new version, or an older one of the same size, as after a restore from a backup
  head -c "$2" /dev/urandom >"$www/tree/$1"
  touch -d "$3" "$www/tree/$1"
}
body_bytes() { awk '$1 == "GET" && $2 == 200 { sum += $3 } END { print sum + 0 }' "$work/access.log"; }
requests() { awk 'END { print NR }' "$work/access.log"; }
is_same() { cmp -s "$1" "$2" && echo yes || echo no; }

night() { # list|tree TOOL
  local kind=$1 tool=$2 out=$work/out status=0 kept
  rm -rf "$out"
  mkdir "$out"
  new_files
  find "$www/tree" -maxdepth 1 -type f -printf "$base/tree/%f\n" | sort >"$work/urls"
  "fetch_$kind" "$tool" "$out" >/dev/null 2>&1 || { [[ $? == 2 ]] && return; echo "$tool: the first night failed" >&2; }
  change 1 4096 '2026-02-01 UTC'
  change 2 5000 '2026-02-01 UTC'
  change 3 4096 '2025-01-01 UTC'
  rm "$out/4"
  echo mine >>"$out/5"
  cp "$out/5" "$work/mine"
  sleep 1 # nginx writes its log when a request has ended
  : >"$work/access.log"
  "fetch_$kind" "$tool" "$out" >"$work/output" 2>&1 || status=$?
  sleep 1
  kept=$(is_same "$out/5" "$work/mine")
  echo "| $tool | $(is_same "$out/1" "$www/tree/1"), $(is_same "$out/2" "$www/tree/2") | $(is_same "$out/3" "$www/tree/3")" \
    "| $(is_same "$out/4" "$www/tree/4") | $kept | $(requests), $(body_bytes) | $status |"
  [[ $tool != transferd ]] || last_line=$(tail -1 "$work/output")
}

for kind in list tree; do
  count=40
  [[ $kind == list ]] || count=100
  echo
  echo "A second night, $kind of $count files: new versions, one older than before, one missing here, one changed here"
  echo
  echo "| | new versions fetched | older one of the same size fetched | missing one fetched | the file changed here is kept | requests, bytes of bodies | exit status |"
  echo "|---|---|---|---|---|---|---|"
  last_line=''
  for tool in "${tools[@]}"; do night "$kind" "$tool"; done
  echo
  echo "transferctl: $last_line"
done

echo
echo "kill -9 while a new version of 40 MB is fetched over the old one"
echo
echo "| | under the name after the kill | fetched by the next run | then right |"
echo "|---|---|---|---|"
for tool in "${tools[@]}"; do
  out=$work/out
  rm -rf "$out"
  mkdir "$out"
  head -c 40000000 /dev/urandom >"$www/big/f.bin"
  touch -d '2026-01-01 UTC' "$www/big/f.bin"
  cp -p "$www/big/f.bin" "$work/old"
  (fetch_big "$tool" "$out") >/dev/null 2>&1
  head -c 40000000 /dev/urandom >"$www/big/f.bin"
  touch -d '2026-02-01 UTC' "$www/big/f.bin"
  (fetch_big "$tool" "$out") >/dev/null 2>&1 &
  running=$!
  sleep 2.5
  if [[ $tool == transferd ]]; then
    kill -9 "$daemon_pid"
    wait "$running" || true
  else
    kill -9 "$running"
    wait "$running" 2>/dev/null || true
  fi
  state='something else'
  if cmp -s "$out/f.bin" "$work/old"; then state='the old version'; fi
  if [[ ! -e $out/f.bin ]]; then state=nothing; fi
  if [[ -e $out/f.bin ]] && cmp -s -n 1000000 "$out/f.bin" "$www/big/f.bin"; then state="a part ($(stat -c %s "$out/f.bin") bytes long)"; fi
  sleep 1
  : >"$work/access.log"
  if [[ $tool == transferd ]]; then
    start_daemon
    "$bin/transferctl" wait --all >/dev/null 2>&1 || true
  else
    (fetch_big "$tool" "$out") >/dev/null 2>&1 || true
  fi
  sleep 1
  fetched=$(awk '$1 == "GET" && ($2 == 200 || $2 == 206) { sum += $3 } END { printf "%.0f MB", sum / 1e6 }' "$work/access.log")
  echo "| $tool | $state | $fetched | $(is_same "$out/f.bin" "$www/big/f.bin") |"
done
