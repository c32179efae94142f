# shellcheck shell=bash
# bench.sh sources this file. It measures uploads through daemon and CLI. The servers are nginx, rclone, and the Python servers
# of the tests (scripts/install-dependencies.sh).

peers_python=${TRANSFERD_TEST_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/transferd/peers}/bin/python

wait_for_port() { # PORT PID
  for _ in {1..400}; do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.05
  done
  return 1
}

# ---- one large PUT

upload() {
  start_daemon "${places[-1]}/state"
  one_turn() {
    rm -f "$puts/put/large.bin"
    case $1 in
      curl) turn "$2/$1" curl -qsSf -o /dev/null -T "$www/large.bin" "$base/put/large.bin" ;;
      transferd) turn "$2/$1" transferctl upload "$www/large.bin" --to "$base/put/" --protocol plain --wait ;;
    esac && cmp -s "$puts/put/large.bin" "$www/large.bin"
  }
  rounds_of "One file of $large_mib MiB, uploaded with PUT to nginx" curl curl transferd
  rm -f "$puts/put/large.bin"
}

# ---- many small PUTs

uploads() { uploads_to nginx "$base/put/many/" "$puts/put/many" curl transferd; }

# The same with rclone's server, and beside rclone copy, which takes more than 10 ms a file.
webdav() {
  local port pid
  [[ " ${peers[*]} " == *" rclone "* ]] || return 0
  port=$(free_port)
  mkdir -p "$puts/many"
  rclone --config /dev/null -q serve webdav --addr "127.0.0.1:$port" --vfs-cache-mode off --dir-cache-time 1s "$puts/many" \
    </dev/null >/dev/null 2>&1 &
  pid=$!
  wait_for_port "$port" "$pid" || { say "skipped: webdav, rclone does not start"; return; }
  uploads_to 'rclone serve webdav' "http://127.0.0.1:$port/" "$puts/many" curl transferd rclone
  stop_ours "$pid" "serve webdav"
}

uploads_to() { # SERVER URL DIRECTORY TOOL…
  local server=$1 target=$2 served=$3
  shift 3
  (cd "$www/small" && find . -type f -printf '%f\n') | sort |
    awk -v from="$www/small/" -v to="$target" \
      '{ if (NR > 1) print "next"; print "upload-file = \"" from $1 "\"\nurl = \"" to $1 "\"\noutput = \"/dev/null\"\nsilent\nfail" }' \
      >"$work/curl-uploads"
  one_turn() {
    # Servers keep the directory open, so its files are put aside.
    mkdir -p "$served" "$puts/aside"
    find "$served" -mindepth 1 -maxdepth 1 -exec mv -t "$(mktemp -d "$puts/aside/XXXXXX")" {} +
    case $1 in
      curl) turn "$2/$1" curl -q -Z --parallel-max 16 -K "$work/curl-uploads" ;;
      transferd)
        start_daemon "${places[-1]}/state"
        turn "$2/$1" transferctl upload --recursive "$www/small" --root "$www/small" --to "$target" --protocol plain --wait
        ;;
      rclone) # waits 10 ms between requests to a WebDAV server; each file takes two requests
        turn "$2/$1" rclone --config /dev/null -q copy --transfers 16 --checkers 16 --no-traverse --no-check-dest \
          --size-only "$www/small" ":webdav,url='$target',vendor=other:"
        ;;
    esac
    [[ $(find "$served" -type f -size -5k -size +3k -printf x | wc -c) == "$files" ]] || {
      say "  $1: files are missing"
      return 1
    }
  }
  rounds_of "$files files of 4 KiB, uploaded with PUT to $server" curl "$@"
  rm -rf "$puts/aside" "$served"
}

# ---- S3

s3() {
  local port pid room=$puts/s3 mib=$((large_mib / 2))
  [[ -x $peers_python ]] || { say "skipped: s3, $peers_python is missing"; return; }
  port=$(free_port)
  mkdir -p "$room/bucket"
  NANIO_ACCESS_KEY=bench NANIO_SECRET_KEY=bench-secret "$peers_python" -m nanio serve --host 127.0.0.1 --port "$port" \
    --data-dir "$room" --no-access-log </dev/null >"$work/nanio.log" 2>&1 &
  pid=$!
  wait_for_port "$port" "$pid" || { say "skipped: s3, nanio does not start: $(tail -1 "$work/nanio.log")"; return; }
  head -c "${mib}M" "$www/large.bin" >"$www/half.bin"
  export AWS_ACCESS_KEY_ID=bench AWS_SECRET_ACCESS_KEY=bench-secret AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true
  start_daemon "${places[-1]}/state"
  one_turn() {
    rm -f "$room/bucket/half.bin"
    case $1 in
      transferd) turn "$2/$1" transferctl upload "$www/half.bin" --to s3://bucket/ --endpoint "http://127.0.0.1:$port" --wait ;;
      rclone)
        turn "$2/$1" rclone --config /dev/null -q copy --ignore-times --s3-no-check-bucket "$www/half.bin" \
          ":s3,provider=Other,env_auth,endpoint='http://127.0.0.1:$port':bucket"
        ;;
      aws) turn "$2/$1" aws --endpoint-url "http://127.0.0.1:$port" s3 cp --only-show-errors "$www/half.bin" s3://bucket/half.bin ;;
    esac
    cmp -s "$room/bucket/half.bin" "$www/half.bin" || { say "  $1: the object differs"; return 1; }
  }
  local programs=(transferd)
  if [[ " ${peers[*]} " == *" rclone "* ]]; then programs+=(rclone); fi
  if have aws; then programs+=(aws); fi
  rounds_of "One file of $mib MiB to S3 (nanio)" "${programs[1]:-transferd}" "${programs[@]}"
  stop_ours "$pid" nanio
  rm -rf "$room" "$www/half.bin"
}

# ---- tus, killed in the middle

# A relay in front of the server counts the bytes.
tus() {
  local port relay_port pid relay room=$puts/tus mib=$((large_mib / 2)) id sent
  [[ -x $peers_python ]] || { say "skipped: tus, $peers_python is missing"; return; }
  port=$(free_port)
  mkdir -p "$room"
  "$peers_python" -c '
import sys, uvicorn
from fastapi import FastAPI
from tuspyserver import create_tus_router
app = FastAPI()
app.include_router(create_tus_router(prefix="files", files_dir=sys.argv[2]))
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")' "$port" "$room" </dev/null >"$work/tus.log" 2>&1 &
  pid=$!
  relay_port=$(free_port)
  python3 "$repository/bench/relay.py" "$relay_port" "$port" "$work/relay.count" </dev/null 2>/dev/null &
  relay=$!
  wait_for_port "$port" "$pid" || { say "skipped: tus, the server does not start: $(tail -1 "$work/tus.log")"; return; }
  wait_for_port "$relay_port" "$relay"
  head -c "${mib}M" "$www/large.bin" >"$www/half.bin"
  start_daemon "${places[-1]}/state"
  id=$(transferctl upload "$www/half.bin" --to "http://127.0.0.1:$relay_port/files/" --protocol tus | head -1)
  for _ in {1..6000}; do
    sent=$(cat "$work/relay.count" 2>/dev/null || echo 0)
    (( ${sent:-0} < mib << 19 )) || break
    sleep 0.01
  done
  kill -9 "$daemon"
  for _ in {1..100}; do kill -0 "$daemon" 2>/dev/null || break; sleep 0.05; done
  say "killed after $sent of $((mib << 20)) bytes reached the server"
  daemon=
  restart_daemon "${places[-1]}/state"
  timeout "$limit" transferctl wait "$id" >/dev/null || say "tus: the upload failed"
  sleep 0.3
  sent=$(cat "$work/relay.count")
  echo
  echo "One file of $mib MiB with tus, the daemon killed with SIGKILL at 50 %"
  if find "$room" -type f -size "+$((mib - 1))M" -exec cmp -s {} "$www/half.bin" \; -print | grep -q .; then
    printf '  bytes that reached the server in addition to the file: %d (limit: %d)\n' $((sent - (mib << 20))) $((8 << 20))
  else
    echo "  the file on the server differs"
  fi
  stop_ours "$relay" relay.py
  stop_ours "$pid" tuspyserver
  rm -rf "$room" "$www/half.bin"
}
