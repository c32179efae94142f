#!/usr/bin/env bash
# compare-relay.sh: a file of 40 MB goes from nginx (8 MB/s) to S3, and the program is killed half-way: what transferd's relay
# and rclone fetch again. It prints the table of docs/comparison.md.
#
#   TRANSFERD_BIN_DIR   the programs; default: .build/release
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${TRANSFERD_BIN_DIR:-.build/release}" && pwd)
python=${TRANSFERD_TEST_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/transferd/peers}/bin/python
# shellcheck source=scripts/nginx-here.sh
source scripts/nginx-here.sh
# shellcheck source=scripts/daemon-here.sh
source scripts/daemon-here.sh

work=$(mktemp -d)
nginx_pid='' daemon_pid='' s3_pid=''
finish() {
  stop_ours "$daemon_pid" transferd
  stop_ours "$nginx_pid" "$work"
  stop_ours "$s3_pid" nanio
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

mkdir -p "$work/www" "$work/s3/bucket"
head -c 40000000 /dev/urandom >"$work/www/f.bin"
serve_with_nginx "$work/nginx" "$work/www" \
  "log_format bytes '\$status \$body_bytes_sent'; access_log $work/access.log bytes; limit_rate 8m;" ""
source_url=http://127.0.0.1:$nginx_port/f.bin

s3_port=$(free_port)
unset AWS_CA_BUNDLE
export AWS_ACCESS_KEY_ID=user AWS_SECRET_ACCESS_KEY=a-secret-of-tests
NANIO_ACCESS_KEY=$AWS_ACCESS_KEY_ID NANIO_SECRET_KEY=$AWS_SECRET_ACCESS_KEY "$python" -m nanio serve --host 127.0.0.1 \
  --port "$s3_port" --data-dir "$work/s3" --no-access-log >"$work/s3.log" 2>&1 &
s3_pid=$!
for _ in {1..100}; do
  ! curl -qso /dev/null "http://127.0.0.1:$s3_port/" || break
  sleep 0.1
done

relay() { # TOOL
  case $1 in
    transferd)
      exec "$bin/transferctl" add "$source_url" --then-upload "s3://bucket/$1" \
        --endpoint "http://127.0.0.1:$s3_port" --region us-east-1 --wait
      ;;
    rclone)
      exec rclone --config /dev/null -q copyurl "$source_url" ":s3:bucket/$1" --s3-provider Other --s3-env-auth \
        --s3-endpoint "http://127.0.0.1:$s3_port" --s3-region us-east-1
      ;;
  esac
}

echo "| | fetched from the source before the kill and by the next run | at the target then |"
echo "|---|---|---|"
for tool in transferd rclone; do
  : >"$work/access.log"
  [[ $tool != transferd ]] || start_daemon
  (relay $tool) >"$work/output" 2>&1 &
  running=$!
  sleep 2.5
  if [[ $tool == transferd ]]; then kill -9 "$daemon_pid"; else kill -9 "$running" || true; fi
  wait "$running" 2>/dev/null || true
  [[ $tool != transferd ]] || wait "$daemon_pid" 2>/dev/null || true
  sleep 1
  if [[ $tool == transferd ]]; then
    start_daemon
    "$bin/transferctl" wait --all >/dev/null 2>&1 || true
  else
    (relay $tool) >/dev/null 2>&1 || true
  fi
  sleep 1
  result=nothing
  if cmp -s "$work/www/f.bin" "$work/s3/bucket/$tool"; then result='the file'; fi
  awk -v tool=$tool -v result="$result" \
    '{ sum[NR] = $2 / 1e6 } END { printf "| %s | %.0f MB, %.0f MB | %s |\n", tool, sum[1], sum[2], result }' "$work/access.log"
done
