# One file from several servers, for scripts/bench.sh: two good ones, one that is slow, and one that has other bytes.
# shellcheck shell=bash disable=SC2154

mirrors_mib=${MIRRORS_MIB:-640}
# Bytes a second of each connection with a good server; each tool uses one connection with each server.
mirrors_rate=20000000

mirrors_url() { echo "http://127.0.0.$1:$mirrors_port/$2/mirrors.bin"; }

mirrors_turn() { # TOOL DIR RESULTS
  local good=("$(mirrors_url 2 limited)" "$(mirrors_url 3 limited)") out=$2/mirrors.bin all
  all=("${good[0]}" "$(mirrors_url 4 trickling)" "$(mirrors_url 5 wrong)" "${good[1]}")
  fresh "$2"
  case $1 in
    curl) turn "$3/$1" curl -qsSo "$out" "${good[0]}" ;;
    transferd)
      turn "$3/$1" transferctl add "${all[0]}" --mirror "${all[1]}" --mirror "${all[2]}" --mirror "${all[3]}" \
        --checksum "sha-256=$mirrors_digest" -d "$2" -o mirrors.bin --wait
      ;;
    transferd-meta4) turn "$3/$1" transferctl add --metalink "$work/mirrors.meta4" -d "$2" --wait ;;
    aria2c-meta4)
      turn "$3/$1" aria2c --no-conf -q -x1 -s4 -k1M --file-allocation=none -d "$2" --metalink-preferred-protocol=http \
        -M "$work/mirrors.meta4"
      ;;
  esac
  cmp -s "$out" "$www/mirrors.bin" || { say "  $1: the file is wrong"; return 1; }
}

mirrors_metalink() { # URL…
  python3 - "$www/mirrors.bin" "$@" <<'PYTHON'
import hashlib, os, sys

path, urls = sys.argv[1], sys.argv[2:]
whole, pieces, length = hashlib.sha256(), [], 1 << 20
with open(path, "rb") as file:
    while piece := file.read(length):
        whole.update(piece)
        pieces.append(hashlib.sha256(piece).hexdigest())
print('<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="mirrors.bin">')
print(f"<size>{os.path.getsize(path)}</size><hash type=\"sha-256\">{whole.hexdigest()}</hash>")
print(f'<pieces type="sha-256" length="{length}">' + "".join(f"<hash>{p}</hash>" for p in pieces) + "</pieces>")
print("".join(f'<url priority="{n}">{url}</url>' for n, url in enumerate(urls, 1)) + "</file></metalink>")
PYTHON
}

mirrors() {
  local place=${places[-1]} results=$work/results-mirrors tool nginx
  mkdir -p "$results" "$work/mirrors-wrong"
  head -c $((mirrors_mib << 20)) /dev/urandom >"$www/mirrors.bin"
  # The wrong server's file has the right length and the right beginning.
  head -c 1048576 "$www/mirrors.bin" >"$work/mirrors-wrong/mirrors.bin"
  head -c $(((mirrors_mib - 1) << 20)) /dev/urandom >>"$work/mirrors-wrong/mirrors.bin"
  mirrors_digest=$(sha256sum "$www/mirrors.bin" | cut -d ' ' -f 1)
  mirrors_port=$(free_port) nginx=$nginx_pid
  serve_with_nginx "$work/nginx-mirrors" "$www" "access_log off; tcp_nodelay on;" \
    "$(printf 'listen 127.0.0.%s:%s; ' 2 "$mirrors_port" 3 "$mirrors_port" 4 "$mirrors_port" 5 "$mirrors_port")
     location /limited/ { alias $www/; limit_rate $mirrors_rate; }
     location /trickling/ { alias $www/; limit_rate 200k; }
     location /wrong/ { alias $work/mirrors-wrong/; limit_rate $mirrors_rate; }"
  mirrors_nginx=$nginx_pid nginx_pid=$nginx
  mirrors_metalink "$(mirrors_url 2 limited)" "$(mirrors_url 4 trickling)" "$(mirrors_url 5 wrong)" "$(mirrors_url 3 limited)" \
    >"$work/mirrors.meta4"
  tools="curl transferd transferd-meta4"
  [[ " ${peers[*]} " != *" aria2c "* ]] || tools+=" aria2c-meta4"
  start_daemon "$place/state"
  for ((round = 1; round <= rounds; round++)); do
    say "mirrors, round $round of $rounds"
    for tool in $tools; do mirrors_turn "$tool" "$place/out" "$results" || true; done
  done
  stop_ours "$mirrors_nginx" "$work"
  rm -rf "$place/out" "$www/mirrors.bin" "$work/mirrors-wrong"
  table "$results" "One file of $mirrors_mib MiB: two servers with $((mirrors_rate / 1000000)) MB/s, one with 0.2, and one with other bytes; curl uses one of the good ones"
}
