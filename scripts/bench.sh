#!/usr/bin/env bash
# Compares transferd with other tools on this machine. Prints ratios, which are valid for one run only.
#
#   scripts/bench.sh [SECTION…]                  without a section: all
#
#   large, small       downloads through daemon and CLI, against curl, aria2, wget2, rclone, a minimal C loop ("bare") and, for
#                      small files, a C program that keeps the daemon's promises ("durable")
#   unchanged          a list of small files that have not changed, with --if-changed, against curl -Z -z
#   tls                the same over HTTPS with HTTP/2
#   segments           one file with several connections, against curl and aria2; a kill (scripts/bench-segments.sh)
#   mirrors            one file from several servers, of which one is slow and one wrong, against aria2 (scripts/bench-mirrors.sh)
#   loss               one file over a network with 200 ms and 1 % loss; needs root and half an hour, so it runs only when it is named
#   slow               1,000 transfers of 10 KiB/s at once, against aria2
#   idle               an idle daemon
#   queue              a million adds against a loop on SQLite; verbs and lists of 100,000 jobs; one call of transferctl
#   limits             how exactly limits of speed are kept (scripts/bench-limits.sh)
#   engine, memory     the library against libcurl in C (scripts/bench-engine.sh)
#   upload, uploads    one large PUT; many small ones, against curl (scripts/bench-uploads.sh)
#   webdav             many small PUTs to rclone's server, against curl and rclone
#   s3, tus            S3 against rclone and the AWS CLI; tus with a daemon that is killed at 50 %
#
#   BENCH_DIR=DIR      the directory for downloaded files (default: a temporary directory below TMPDIR or /tmp)
#   ROUNDS=5           number of rounds; each tool runs once in each round, and medians are shown
#   LARGE_MIB=2048     size of the large file
#   FILES=10000        number of small files of 4 KiB
#   SEGMENTS_MIB=320   size of the file of the section segments
#   MIRRORS_MIB=640    size of the file of the section mirrors
#   LOSS_MIB=80        size of the file of the section loss; one round unless ROUNDS is given
#   SLOW_FILES=1000    transfers of the section slow
#   ADDS=1000000       number of URLs that the section queue adds
#   LIMIT=300          time limit of one run of a tool, in seconds
#
# CPU is user + system time of all client processes; for transferd these are daemon and transferctl. transferd completes a job
# only when fsync(2) has made file, name and job durable; the other tools give no such guarantee. So a table for a disk depends
# on the disk. A second table is made for memory, on /dev/shm, if there is enough space.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/nginx-here.sh
. scripts/nginx-here.sh
# shellcheck source=scripts/bench-engine.sh
. scripts/bench-engine.sh
# shellcheck source=scripts/bench-uploads.sh
. scripts/bench-uploads.sh
# shellcheck source=scripts/bench-queue.sh
. scripts/bench-queue.sh
# shellcheck source=scripts/bench-segments.sh
. scripts/bench-segments.sh
# shellcheck source=scripts/bench-mirrors.sh
. scripts/bench-mirrors.sh
# shellcheck source=scripts/bench-loss.sh
. scripts/bench-loss.sh
# shellcheck source=scripts/bench-slow.sh
. scripts/bench-slow.sh
# shellcheck source=scripts/bench-unchanged.sh
. scripts/bench-unchanged.sh
# shellcheck source=scripts/bench-limits.sh
. scripts/bench-limits.sh
repository=$PWD

rounds=${ROUNDS:-5} large_mib=${LARGE_MIB:-2048} files=${FILES:-10000} limit=${LIMIT:-300}
parts=("$@")
all=(large small unchanged tls segments mirrors slow idle queue limits engine memory upload uploads webdav s3 tus)
((${#parts[@]})) || parts=("${all[@]}")
for part in "${parts[@]}"; do
  [[ " ${all[*]} loss " == *" $part "* ]] || {
    echo "usage: ${0##*/} [${all[*]} loss]" >&2
    exit 64
  }
done
wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }

work=$(mktemp -d "${TMPDIR:-/tmp}/transferd-bench.XXXXXX")
made=("$work")
nginx_pid='' daemon=''
cleanup() {
  stop_ours "$daemon" "$work"
  # The servers of a section that was interrupted.
  [[ ! $lossy_pid ]] || loss_network down
  for pid in $(jobs -p); do kill "$pid" 2>/dev/null || true; done
  stop_ours "$nginx_pid" "$work"
  rm -rf "${made[@]}"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# ---- the machine and the tools

say() { echo "$*" >&2; }
file_system() { df --output=fstype "$1" | tail -1; }
room_mib() { df --output=avail -m "$1" | tail -1 | tr -d ' '; }

say "building (release) …"
{
  make --no-print-directory release
  if wants engine || wants memory; then
    # The options of `make release`: others would compile everything again.
    swift build -c release --static-swift-stdlib $(scripts/link-options.sh) --product engine-bench
  fi
} >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
export PATH=$repository/.build/release:$PATH:/usr/sbin
cc -O2 -o "$work/bare" bench/bare.c
cc -O2 -o "$work/durable" bench/durable.c -lcurl -lsqlite3

have() {
  command -v "$1" >/dev/null || { say "skipped: $1 is not installed"; return 1; }
}
peers=(curl)
for peer in aria2c wget2 rclone; do
  if have "$peer"; then peers+=("$peer"); fi
done

# The files are served from memory if there is enough space, so that only the client uses the disk.
www=$work/www
shm_mib=0
if [[ -d /dev/shm && -w /dev/shm ]]; then
  shm_mib=$(room_mib /dev/shm)
  available=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  ((shm_mib < available)) || shm_mib=$available
fi
need=$((2 * large_mib + files / 64 + 1024))
if ((shm_mib > need)); then
  www=$(mktemp -d /dev/shm/transferd-bench.XXXXXX)
  made+=("$www")
fi

if [[ ${BENCH_DIR-} ]]; then
  disk=$(mktemp -d "$BENCH_DIR/transferd-bench.XXXXXX")
  made+=("$disk")
else
  disk=$work/files
fi
# Uploads are stored beside the served files. A sparse file, whose zeros take no space, is on the disk.
puts=$www.put sparse=$work/sparse
made+=("$puts")
mkdir -p "$disk" "$www/small" "$puts/put" "$sparse"
places=("$disk")
if [[ $(file_system "$disk") != tmpfs ]]; then
  if ((shm_mib > need)); then
    places+=("$(mktemp -d /dev/shm/transferd-bench.XXXXXX)")
    made+=("${places[1]}")
  else
    say "skipped: the table for memory; /dev/shm or free memory has less than $need MiB"
  fi
fi

if wants large || wants tls || wants engine || wants upload || wants s3 || wants tus; then
  head -c 64M /dev/urandom >"$work/seed"
  for ((i = 0; i < large_mib / 64; i++)); do cat "$work/seed"; done >"$www/large.bin"
fi
if wants small || wants unchanged || wants tls || wants idle || wants engine || wants uploads || wants webdav; then
  head -c $((files * 4096)) /dev/urandom | (cd "$www/small" && split -b 4096 -d -a 6 - f)
fi
# The section tls uses a second port of the same server; its certificate is its own authority.
tls_port=$(free_port)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout "$work/tls.key" -out "$work/tls.pem" 2>"$work/build.log" || {
  cat "$work/build.log" >&2
  exit 1
}
printf 'transferd:\n  certificateAuthorityFile: %s\n' "$work/tls.pem" >"$work/tls.yaml"
serve_with_nginx "$work/nginx" "$www" \
  "access_log off; keepalive_requests 1000000; open_file_cache max=15000 inactive=600s; tcp_nodelay on;" \
  "listen 127.0.0.1:$tls_port ssl http2; ssl_certificate $work/tls.pem; ssl_certificate_key $work/tls.key;
   http2_max_requests 1000000;
   location /put/ { root $puts; client_body_temp_path $puts/temp; client_max_body_size 0; dav_methods PUT; }
   location /limited/ { alias $www/; limit_rate 20000000; access_log $work/segments.log; }
   location /trickle/ { alias $www/slow/; limit_rate 10k; }
   location /sparse/ { alias $sparse/; }"
base=http://127.0.0.1:$nginx_port
# The authority to trust; empty in all sections but tls.
ca=

# ---- one run of a tool

export TRANSFERD_SOCKET=$work/transferd.sock
inside=() # a command that runs the daemon elsewhere, such as in a network namespace
start_daemon() { # STATE-DIR [FLAG…]
  stop_ours "$daemon" "$work"
  rm -rf "$1"
  mkdir "$1"
  chmod 700 "$1"
  restart_daemon "$@"
}
restart_daemon() { # the same, with the existing state
  local state=$1
  shift
  "${inside[@]}" transferd --state-dir "$state" --socket "$TRANSFERD_SOCKET" "$@" </dev/null >/dev/null 2>"$work/transferd.log" &
  daemon=$!
  for _ in {1..200}; do
    transferctl daemon status >/dev/null 2>&1 && return
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.05
  done
  cat "$work/transferd.log" >&2
  return 1
}

daemon_cpu() { # seconds; utime and stime of proc_pid_stat(5)
  [[ $daemon ]] || { echo 0; return; }
  sed 's/^.*) //' "/proc/$daemon/stat" | awk -v hz="$(getconf CLK_TCK)" '{ print ($12 + $13) / hz }'
}

# turn FILE COMMAND…: runs the command and appends "WALL CPU" to FILE, or reports that it failed.
turn() {
  local into=$1 before after status=0 TIMEFORMAT='%R %U %S'
  shift
  before=$(daemon_cpu)
  { time timeout "$limit" "$@" </dev/null >/dev/null 2>"$work/stderr" || status=$?; } 2>"$work/time"
  after=$(daemon_cpu)
  if ((status)); then
    say "  ${into##*/}: status $status: $(tail -1 "$work/stderr")"
    return 1
  fi
  awk -v d="$(echo "$after $before" | awk '{ print $1 - $2 }')" '{ print $1, $2 + $3 + d }' "$work/time" >>"$into"
}

fresh() { # makes an empty directory; dirty pages of the previous tool must not slow down the next one
  rm -rf "$1"
  ready "$1"
}
# The same, but existing files are deleted at the end of the section. A file system may check every recently freed inode before
# it reuses one (ext4 without a journal does), which would make every run slower than the one before.
fresh_beside() {
  [[ ! -e $1 ]] || mv "$1" "$(mktemp -d "${1%/*}/aside.XXXXXX")"
  ready "$1"
}
ready() {
  mkdir -p "$1"
  [[ $(file_system "$1") == tmpfs ]] || timeout 30 sync -f "$1" || true
}

# table DIR TITLE: prints every tool's medians as ratios to curl's and bare's, in the order of $tools.
table() {
  echo
  for tool in $tools; do
    if [[ -s $1/$tool ]]; then awk -v tool="$tool" '{ print tool, $1, $2 }' "$1/$tool"; fi
  done | awk -v title="$2" '
    function median(list, n, i, j, t) {
      for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
      return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    !($1 in count) { order[++tools] = $1 }
    { n = ++count[$1]; wall[$1, n] = $2; cpu[$1, n] = $3 }
    function ratio(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "-" }
    END {
      for (k = 1; k <= tools; k++) {
        t = order[k]
        for (i = 1; i <= count[t]; i++) { w[i] = wall[t, i]; c[i] = cpu[t, i] }
        W[t] = median(w, count[t]); C[t] = median(c, count[t]); low[t] = w[1]; high[t] = w[count[t]]
      }
      printf "%s\nmedians of %d rounds; curl = 1.00 is %.2f s wall time and %.2f s CPU time\n", title, count["curl"], W["curl"], C["curl"]
      printf "  %-16s %10s %10s %10s %10s   %s\n", "", "wall/curl", "CPU/curl", "wall/bare", "CPU/bare", "wall, minimum–maximum"
      for (k = 1; k <= tools; k++) {
        t = order[k]
        printf "  %-16s %10s %10s %10s %10s   %s–%s\n", t, ratio(W[t], W["curl"]), ratio(C[t], C["curl"]), \
          ratio(W[t], W["bare"]), ratio(C[t], C["bare"]), ratio(low[t], W["curl"]), ratio(high[t], W["curl"])
      }
    }'
}

# ---- (a) one large file

curl_and_fsync() { curl -qsSo "$2" "$1" && sync "$2"; }
export -f curl_and_fsync

large_turn() { # TOOL DIR RESULTS
  local url=$base/large.bin out=$2/large.bin
  fresh "$2"
  case $1 in
    transferd) turn "$3/$1" transferctl add "$url" -d "$2" --wait ;;
    curl) turn "$3/$1" curl -qsSo "$out" ${ca:+--cacert "$ca"} "$url" ;;
    curl+fsync) turn "$3/$1" bash -c "curl_and_fsync '$url' '$out'" ;;
    aria2c) turn "$3/$1" aria2c --no-conf -q -x1 -s1 ${ca:+--ca-certificate="$ca"} --file-allocation=none -d "$2" -o large.bin "$url" ;;
    wget2) turn "$3/$1" wget2 --no-config -q ${ca:+--ca-certificate="$ca"} --max-threads=1 -O "$out" "$url" ;;
    rclone) turn "$3/$1" rclone --config /dev/null -q ${ca:+--ca-cert "$ca"} copyurl "$url" "$out" ;;
    bare) turn "$3/$1" bash -c "echo /large.bin '$out' | exec '$work/bare' $nginx_port" ;;
  esac
  [[ $(stat -c %s "$out") == $((large_mib << 20)) ]] || { say "  $1: the file has the wrong size"; return 1; }
}

large() { # DIR
  local place=$1 results=$work/results-large-$2 tool
  mkdir -p "$results" "$results-warm"
  tools="transferd curl ${peers[*]:1}"
  [[ $ca ]] || tools+=" bare"
  [[ $ca || $(file_system "$place") == tmpfs ]] || tools=${tools/curl/curl curl+fsync}
  start_daemon "$place/state" ${ca:+--config "$work/tls.yaml"}
  for tool in $tools; do # not measured: fills caches, and shows which tools deliver the right bytes
    if ! large_turn "$tool" "$place/out" "$results-warm" || ! cmp -s "$place/out/large.bin" "$www/large.bin"; then
      say "skipped: $tool does not work here"
      tools=$(echo " $tools " | sed "s/ ${tool/+/\\+} / /")
    fi
  done
  for ((round = 1; round <= rounds; round++)); do
    say "large, $(file_system "$place"), round $round of $rounds"
    for tool in $tools; do large_turn "$tool" "$place/out" "$results" || true; done
  done
  rm -rf "$place/out"
  table "$results" "One file of $large_mib MiB, downloaded to $(file_system "$place")${ca:+ over HTTPS}"
}

# ---- (b) many small files

small_turn() { # TOOL N DIR RESULTS
  fresh_beside "$3"
  case $1 in
    transferd)
      local limits=(--max-active "$2" --max-per-origin "$2")
      [[ $2 != auto ]] || limits=() # the defaults
      start_daemon "${3%/*}/state" "${limits[@]}" ${ca:+--config "$work/tls.yaml"}
      turn "$4" transferctl add -i "$work/urls" -d "$3" --wait
      ;;
    curl) turn "$4" curl -qsS -Z ${ca:+--cacert "$ca"} --parallel-max "$2" -K "$work/curl-${3//\//_}" ;;
    aria2c) turn "$4" aria2c --no-conf -q ${ca:+--ca-certificate="$ca"} --file-allocation=none -j "$2" -x1 -s1 -d "$3" -i "$work/urls" ;;
    wget2) turn "$4" wget2 --no-config -q ${ca:+--ca-certificate="$ca"} --max-threads="$2" -P "$3" -i "$work/urls" ;;
    bare) turn "$4" bash -c "exec '$work/bare' $nginx_port <'$work/bare-${3//\//_}'" ;;
    durable)
      rm -f "${3%/*}"/durable.db*
      "$work/durable" "${3%/*}/durable.db" add "$files"
      turn "$4" "$work/durable" "${3%/*}/durable.db" "$3" "$files" "$2" "$base/small/f"
      ;;
  esac
  [[ $(find "$3" -type f -size -5k -size +3k -printf x | wc -c) == "$files" ]] || { say "  $1: files are missing"; return 1; }
}

small() { # DIR
  local place=$1 results=$work/results-small-$2 tool n best took out=$1/out
  declare -A parallel=() width=(
    [transferd]="auto 16 64 256" [curl]="16 64 256" [wget2]="8 16 64" [aria2c]="16 64" [durable]="16 64 256" [bare]="1")
  mkdir -p "$results" "$results-trial"
  find "$www/small" -type f -printf "$base/small/%f\n" | sort >"$work/urls"
  sed -E "s#.*/(.*)#url=\"$base/small/\1\"\noutput=\"$out/\1\"#" "$work/urls" >"$work/curl-${out//\//_}"
  sed -E "s#.*/(.*)#/small/\1 $out/\1#" "$work/urls" >"$work/bare-${out//\//_}"
  tools=
  for tool in transferd curl wget2 aria2c durable bare; do
    [[ " transferd durable bare ${peers[*]} " == *" $tool "* ]] || continue
    [[ ! $ca || " durable bare " != *" $tool "* ]] || continue # they speak HTTP only
    best=
    for n in ${width[$tool]}; do # find the best parallelism once; the caches are warm afterwards
      if small_turn "$tool" "$n" "$out" "$results-trial/$tool-$n" && diff -rq "$out" "$www/small" >/dev/null; then
        took=$(cut -d ' ' -f 1 "$results-trial/$tool-$n")
        say "  $tool with $n concurrent: $took s"
        if [[ ! $best ]] || awk "BEGIN { exit !($took < $best) }"; then best=$took parallel[$tool]=$n; fi
      fi
    done
    if [[ $best ]]; then tools+="$tool "; else say "skipped: $tool does not work here"; fi
  done
  for ((round = 1; round <= rounds; round++)); do
    say "small, $(file_system "$place"), round $round of $rounds"
    for tool in $tools; do small_turn "$tool" "${parallel[$tool]}" "$out" "$results/$tool" || true; done
  done
  rm -rf "$out" "$place"/aside.*
  table "$results" "$files files of 4 KiB, downloaded to $(file_system "$place")${ca:+ over HTTPS}"
  printf '  concurrent:'
  for tool in $tools; do printf ' %s %s' "$tool" "${parallel[$tool]}"; done
  echo
}

# ---- (c) both over HTTPS with HTTP/2, in memory

tls() {
  local base=https://localhost:$tls_port ca=$work/tls.pem
  large "${places[-1]}" tls
  small "${places[-1]}" tls
}

# ---- (d) an idle daemon

switches() { # THREAD COUNT: the voluntary context switches so far
  awk '/^Pid:/ { pid = $2 } /^voluntary_ctxt_switches/ { print pid, $2 }' /proc/"$daemon"/task/*/status 2>/dev/null
}
idle_line() { # WHAT
  local before after
  sleep 15 # the daemon calculates rates for ten seconds after the last byte
  before=$(switches)
  sleep 10
  after=$(switches)
  printf '%s\n' "$before" end "$after" | awk -v what="$1" -v smaps="/proc/$daemon/smaps_rollup" '
    $1 == "end" { second = 1; next }
    !second { had[$1] = $2; next }
    { wakes += $2 - had[$1] }
    END {
      while ((getline line <smaps) > 0) { split(line, f); kib[f[1]] = f[2] }
      printf "  %-28s %12d %10.1f %10.1f\n", what, wakes, kib["Rss:"] / 1024, kib["Pss:"] / 1024
    }'
}
idle() { # DIR
  find "$www/small" -type f -printf "$base/small/%f\n" >"$work/urls"
  start_daemon "$1/state"
  echo
  echo "An idle daemon"
  printf '  %-28s %12s %10s %10s\n' "" "wakes in 10s" "RSS, MiB" "PSS, MiB"
  idle_line "just started"
  fresh "$1/out"
  timeout "$limit" transferctl add -i "$work/urls" -d "$1/out" --wait >/dev/null 2>&1 || say "idle: the jobs failed"
  idle_line "after $files jobs"
  rm -rf "$1/out"
}

echo "transferd $(transferctl version 2>/dev/null | head -1 | awk '{ print $NF }'), $(nproc) cores shared by clients and server; other load affects the results: see minimum and maximum"
for peer in "${peers[@]}"; do "$peer" --version | awk 'NR == 1 { print "  " $1, $2, $3 }'; done
for i in "${!places[@]}"; do
  if wants large; then large "${places[i]}" "$i"; fi
  if wants small; then small "${places[i]}" "$i"; fi
done
if wants idle; then idle "${places[-1]}"; fi
for part in unchanged tls segments mirrors slow loss queue limits engine memory upload uploads webdav s3 tus; do
  if wants "$part"; then "$part"; fi
done
