# shellcheck shell=bash
# Source this file. It starts a daemon of its own, with a socket and a state directory below $work.

export TRANSFERCTL_NO_AUTOSTART=1

# start_daemon: starts $bin/transferd and waits until it responds. Sets daemon_pid and TRANSFERD_SOCKET.
start_daemon() {
  export TRANSFERD_SOCKET=$work/s
  "$bin/transferd" --state-dir "$work/state" --socket "$work/s" >>"$work/log" 2>&1 &
  daemon_pid=$!
  until "$bin/transferctl" status --format name >/dev/null 2>&1; do
    kill -0 "$daemon_pid" || { cat "$work/log" >&2; exit 1; }
    sleep 0.05
  done
}
