# shellcheck shell=bash
# Source this file. It runs nginx as one process on a free port of 127.0.0.1 and stops it by its pid.

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# serve_with_nginx DIR ROOT HTTP-DIRECTIVES SERVER-DIRECTIVES: sets nginx_pid and nginx_port.
# DIR is for its configuration, logs and temporary files.
serve_with_nginx() {
  local dir=$1 root=$2 http=$3 server=$4 nginx _
  nginx=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v nginx)
  mkdir -p "$dir"
  nginx_port=$(free_port)
  cat >"$dir/nginx.conf" <<CONF
daemon off;
master_process off;
pid $dir/nginx.pid;
error_log $dir/error.log warn;
events { worker_connections 4096; }
http {
  client_body_temp_path $dir/temp;
  proxy_temp_path $dir/temp;
  fastcgi_temp_path $dir/temp;
  scgi_temp_path $dir/temp;
  uwsgi_temp_path $dir/temp;
  default_type application/octet-stream;
  sendfile on;
  $http
  server {
    listen 127.0.0.1:$nginx_port;
    root $root;
    $server
  }
}
CONF
  "$nginx" -e "$dir/error.log" -p "$dir" -c "$dir/nginx.conf" </dev/null >/dev/null 2>&1 &
  nginx_pid=$!
  for _ in {1..100}; do
    curl -qso /dev/null "http://127.0.0.1:$nginx_port/" && return
    kill -0 "$nginx_pid" 2>/dev/null || break
    sleep 0.05
  done
  echo "cannot start nginx:" >&2
  cat "$dir/error.log" >&2
  return 1
}

# stop_ours PID WORD: ends a process if its command line still contains WORD, and waits until it has ended.
stop_ours() {
  local pid=${1-} _
  [[ $pid ]] && grep -qsF -- "$2" "/proc/$pid/cmdline" || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in {1..100}; do
    grep -qsF -- "$2" "/proc/$pid/cmdline" || return 0
    sleep 0.05
  done
  kill -9 "$pid" 2>/dev/null || true
}
