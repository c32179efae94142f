#!/usr/bin/env bash
# units.sh runs this inside its container, as root under systemd. Prints one line for each check; status 1 if one failed.
set -u
failures=0

check() { # NAME STATUS COMMAND… : checks that the command exits with this status
  local name=$1 wanted=$2 output status
  shift 2
  output=$("$@" 2>&1)
  status=$?
  if ((status == wanted)); then
    echo "ok      $name"
  else
    echo "FAILED  $name: status $status, expected $wanted"
    printf '%s\n' "$output" | sed 's/^/          /'
    failures=$((failures + 1))
  fi
}
as() { # USER COMMAND…
  local user=$1
  shift
  setpriv --reuid "$user" --regid "$user" --init-groups env -i PATH="$PATH" HOME="/home/$user" \
    XDG_RUNTIME_DIR="/run/user/$(id -u "$user")" "$@"
}
ctl() { transferctl --socket /run/transferd/transferd.sock "$@"; }
member() { # USER ARGUMENTS…
  local user=$1
  shift
  as "$user" transferctl "$@" --socket /run/transferd/transferd.sock
}
contains() { # TEXT COMMAND…
  local text=$1 output
  shift
  output=$("$@" 2>&1)
  [[ $output == *"$text"* ]] || {
    printf '%s\n' "$output"
    return 1
  }
}
eventually() { # COMMAND…
  local _
  for _ in $(seq 100); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  "$@"
}

echo "# a system service, with two members of its group"
systemd-sysusers
for user in alice bob; do useradd --create-home --groups transferd "$user"; done
mkdir -p /srv/in /srv/out /srv/www
chown transferd:transferd /srv/in
printf '%s' alpha >/srv/www/a
printf '%s' beta >/srv/www/b
printf '%s' report >/srv/out/report
chmod 755 /srv/out /srv/www
(cd /srv/www && exec python3 -m http.server 8099 --bind 127.0.0.1) >/dev/null 2>&1 &
mkdir -p /etc/systemd/system/transferd.service.d
cat >/etc/transferd.yaml <<'YAML'
transferd:
  memberReadRoots: [/srv/out]
  memberWriteRoots: [/srv/in]
  redirects: any
  hooks:
    onComplete: [/usr/bin/touch, /srv/in/hook-ran]
YAML
cat >/etc/systemd/system/transferd.service.d/test.conf <<'UNIT'
[Service]
ReadWritePaths=/srv/in
ExecStart=
ExecStart=/usr/local/bin/transferd --socket /run/transferd/transferd.sock --state-dir /var/lib/transferd --config /etc/transferd.yaml
UNIT
systemctl daemon-reload
check "the system service starts" 0 systemctl start transferd
check "a member can use it" 0 member alice daemon status
check "a member downloads below memberWriteRoots" 0 member alice add http://127.0.0.1:8099/a -d /srv/in --wait
check "the file exists" 0 contains alpha cat /srv/in/a
check "a member cannot write outside memberWriteRoots" 5 member alice add http://127.0.0.1:8099/b -d /tmp
check "a member cannot write into the state directory" 5 member alice add http://127.0.0.1:8099/b -o /var/lib/transferd/x
check "a member cannot create the service's .aws" 5 \
  member alice add http://127.0.0.1:8099/b -o "$(systemctl show -p Environment --value transferd | tr ' ' '\n' | sed -n 's/^HOME=//p')/.aws/config" --create-dirs
check "a member cannot upload a file outside memberReadRoots" 5 member alice upload /etc/passwd --to http://127.0.0.1:8099/x
check "a member cannot see another user's job" 4 member bob show 1
check "a member cannot remove another user's job" 4 member bob remove 1
check "root sees the job" 0 ctl show 1
check "a member cannot stop the daemon" 5 member bob daemon stop
check "a hook outside ExecPaths= does not run" 1 test -e /srv/in/hook-ran
check "the log says so" 0 contains "hook" journalctl --unit transferd --no-pager
check "the service cannot write outside ReadWritePaths=" 5 ctl add http://127.0.0.1:8099/b -d /usr/local
ip address add 169.254.7.7/32 dev lo 2>/dev/null
check "a link-local server cannot be reached" 1 ctl add http://169.254.7.7:8099/a -o /srv/in/link --retries 0 --connect-timeout 3 --wait

pid=$(systemctl show -p MainPID --value transferd)
check "the service has no new privileges" 0 grep -q '^NoNewPrivs:.1' "/proc/$pid/status"
check "the service's system calls are filtered" 0 grep -q '^Seccomp:.2' "/proc/$pid/status"
check "the service has no capabilities" 0 grep -q '^CapBnd:.0000000000000000' "/proc/$pid/status"
systemctl kill --signal=SEGV --kill-who=main transferd
check "a crash restarts the service" 0 eventually contains "pid:" member alice daemon status
systemctl kill --signal=KILL --kill-who=main transferd
check "a kill restarts the service" 0 eventually contains "pid:" member alice daemon status
check "root may stop the service" 0 ctl daemon stop
check "the service stays stopped" 0 eventually contains "ActiveState=inactive" systemctl show -p ActiveState transferd

echo "# a user's own service"
loginctl enable-linger alice 2>/dev/null || systemctl start "user@$(id -u alice)"
user() { as alice systemctl --user "$@"; }
eventually test -S "/run/user/$(id -u alice)/systemd/private"
check "the user's service starts" 0 user start transferd
check "a download into the home directory" 0 as alice transferctl add http://127.0.0.1:8099/a -o /home/alice/a --wait
check "the file in the home directory exists" 0 contains alpha cat /home/alice/a
pid=$(user show -p MainPID --value transferd)
check "the user's service has no new privileges" 0 grep -q '^NoNewPrivs:.1' "/proc/$pid/status"
check "the system calls of the user's service are filtered" 0 grep -q '^Seccomp:.2' "/proc/$pid/status"
check "another user cannot use the user's service" 5 as bob transferctl daemon status --socket "/run/user/$(id -u alice)/transferd/transferd.sock"
kill -ABRT "$pid"
check "a crash restarts the user's service" 0 eventually as alice transferctl daemon status --no-autostart
check "the user stops the user's service" 0 as alice transferctl daemon stop --no-autostart
check "the user's service stays stopped" 0 eventually contains "ActiveState=inactive" user show -p ActiveState transferd

((failures == 0)) && echo "all passed" || echo "$failures failed"
((failures == 0))
