# For demo.sh and bench.sh: a temporary room with nginx in it, and an orderly end.
# shellcheck shell=bash

# Makes the room, short enough for a Unix socket, and sees to it that nothing outlives the script.
# Sets $room; what shall be ended stands in $children, by pid.
make_room() {
  room=$(mktemp -d /tmp/transferd.XXXXXX)
  children=()
  trap 'close_room' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  mkdir -m 700 "$room/run" "$room/state" "$room/config" "$room/www" "$room/downloads"
}

close_room() {
  local pid
  for pid in "${!children[@]}"; do
    stop "$pid"
  done
  rm -rf "$room"
}

# Ends a child of this script by its pid: TERM, and KILL when it has not gone after 5 s.
stop() {
  local tries
  unset "children[$1]"
  kill -TERM "$1" 2>/dev/null || return 0
  for ((tries = 0; tries < 50; tries++)); do
    kill -0 "$1" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
  { wait "$1" || true; } 2>/dev/null
}

# Kills a child as a power cut would. Its pid is forgotten: it may soon be another's.
kill9() {
  unset "children[$1]"
  kill -9 "$1"
  { wait "$1" || true; } 2>/dev/null
}

# Calls a command every 0.1 s until it succeeds, for at most so many seconds.
within() {
  local tries=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    ((tries-- > 0)) || return 1
    sleep 0.1
  done
}

free_port() {
  python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# Serves $room/www with nginx; further directives may be given. Sets $base, the URL, and writes $room/access.log.
start_nginx() {
  local port user=""
  port=$(free_port)
  if [ "$(id -u)" -eq 0 ]; then user="user root;"; fi
  mkdir "$room/nginx"
  cat >"$room/nginx.conf" <<CONF
daemon off;
worker_processes 1;
pid $room/nginx.pid;
$user
events {}
http {
  client_body_temp_path $room/nginx/body;
  proxy_temp_path $room/nginx/proxy;
  fastcgi_temp_path $room/nginx/fastcgi;
  uwsgi_temp_path $room/nginx/uwsgi;
  scgi_temp_path $room/nginx/scgi;
  log_format demo '\$status \$body_bytes_sent \$http_range';
  access_log $room/access.log demo;
  sendfile on;
  ${1:-}
  server { listen 127.0.0.1:$port; root $room/www; }
}
CONF
  PATH=$PATH:/usr/sbin nginx -p "$room" -c "$room/nginx.conf" -e "$room/error.log" 2>"$room/nginx.err" &
  children[$!]=nginx
  export base=http://127.0.0.1:$port
  if ! within 10 test -s "$room/nginx.pid"; then
    cat "$room/nginx.err" >&2
    echo "cannot start nginx" >&2
    exit 1
  fi
}

# The programs use this room alone; the user's own daemon, and the system's, are not touched.
use_programs() {
  bin=${TRANSFERD_BIN_DIR:-$(swift build -c release --show-bin-path)}
  export TRANSFERD_STATE_DIR=$room/state
  export TRANSFERD_SOCKET=$room/run/transferd.sock
  export XDG_RUNTIME_DIR=$room/run
  export XDG_CONFIG_HOME=$room/config
  export TRANSFERCTL_NO_AUTOSTART=1
  local program
  for program in transferd transferctl; do
    if [ ! -x "$bin/$program" ]; then
      echo "cannot find $bin/$program; build it first: make release" >&2
      exit 1
    fi
  done
}

transferctl() {
  "$bin/transferctl" "$@"
}

# Starts the daemon and waits until it answers. Sets $daemon, its pid.
start_daemon() {
  "$bin/transferd" 2>>"$room/daemon.log" &
  daemon=$!
  children[daemon]=transferd
  if ! within 10 transferctl status; then
    cat "$room/daemon.log" >&2
    echo "cannot reach the daemon" >&2
    exit 1
  fi
}
