# One file over a network with 200 ms and 1 % loss, for scripts/bench.sh: two network namespaces, and bench/lossy.c between them.
# shellcheck shell=bash disable=SC2154

loss_mib=${LOSS_MIB:-80}
lossy_pid='' lossy_nginx=''

loss_turn() { # TOOL DIR RESULTS
  local url=http://10.231.0.1:8080/loss.bin out=$2/loss.bin
  fresh "$2"
  case $1 in
    transferd-*) turn "$3/$1" transferctl add "$url" -d "$2" --segments "${1#transferd-}" --wait ;;
    curl) turn "$3/$1" "${inside[@]}" curl -qsSo "$out" "$url" ;;
    aria2c-*)
      turn "$3/$1" "${inside[@]}" aria2c --no-conf -q -x"${1#aria2c-}" -s"${1#aria2c-}" -k1M --file-allocation=none -d "$2" \
        -o loss.bin "$url"
      ;;
  esac
  cmp -s "$out" "$www/loss.bin" || { say "  $1: the file is wrong"; return 1; }
}

# loss_network up|down: namespaces for server and client; sets lossy_pid and the nginx of the server's namespace.
loss_network() {
  local server=transferd-bench-$$-server client=transferd-bench-$$-client name line
  if [[ $1 == down ]]; then
    for name in "$lossy_nginx" "$lossy_pid"; do [[ ! $name ]] || kill "$name" 2>/dev/null || true; done
    for name in "$server" "$client"; do ip netns del "$name" 2>/dev/null || true; done
    lossy_pid='' lossy_nginx=''
    return
  fi
  cc -O2 -o "$work/lossy" bench/lossy.c
  mkfifo "$work/lossy.ready"
  "$work/lossy" "td$$a" "td$$b" 100 100 </dev/zero >"$work/lossy.ready" &
  lossy_pid=$!
  read -r line <"$work/lossy.ready"
  [[ $line == ready ]]
  for name in "$server td$$a 10.231.0.1 10.231.0.2" "$client td$$b 10.231.0.2 10.231.0.1"; do
    read -r ns device here there <<<"$name"
    ip netns add "$ns"
    ip link set "$device" netns "$ns"
    ip -n "$ns" link set lo up
    ip -n "$ns" addr add "$here" peer "$there" dev "$device"
    ip -n "$ns" link set "$device" up
  done
  inside=(ip netns exec "$client")
  # shellcheck disable=SC2016
  lossy_nginx=$(ip netns exec "$server" bash -c '
    . scripts/nginx-here.sh
    serve_with_nginx "$1" "$2" "access_log off;" "listen 10.231.0.1:8080;" >&2 && echo "$nginx_pid"' _ "$work/nginx-loss" "$www")
}

loss() {
  local place=${places[-1]} results=$work/results-loss tool limit=${LIMIT:-3600} rounds=${ROUNDS:-1} inside=()
  [[ $(id -u) == 0 ]] || { say "skipped: the section loss makes network namespaces; it needs root"; return; }
  mkdir -p "$results"
  head -c $((loss_mib << 20)) /dev/urandom >"$www/loss.bin"
  loss_network up
  tools="transferd-8 transferd-auto transferd-1 curl"
  [[ " ${peers[*]} " != *" aria2c "* ]] || tools="aria2c-8 $tools"
  start_daemon "$place/state"
  for ((round = 1; round <= rounds; round++)); do
    for tool in $tools; do
      say "loss, round $round of $rounds, $tool"
      loss_turn "$tool" "$place/out" "$results" || true
    done
  done
  stop_ours "$daemon" "$work"
  daemon=
  loss_network down
  table "$results" "One file of $loss_mib MiB over a network with 200 ms and 1 % loss"
  rm -rf "$place/out" "$www/loss.bin"
}
