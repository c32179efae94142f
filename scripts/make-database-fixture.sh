#!/usr/bin/env bash
# make-database-fixture.sh: stores a database of the current schema in Tests/Fixtures/databases/version-N, with jobs in
# every state. Run it on the release before you add a migration. Every later release must open this database
# (MigrationTests).
#
#   transferd.db      closed cleanly
#   transferd.db-wal  the log of a daemon that was killed later: the job "interrupted" is running
#   jobs.jsonl        the output of `transferctl status` before that
set -euo pipefail
cd "$(dirname "$0")/.."

bin=${TRANSFERD_BIN_DIR:-.build/debug}
version=$(sed -n 's/.*static let version: Int32 = //p' Sources/Store/Migrations.swift)
target=Tests/Fixtures/databases/version-$version
if [[ -e $target ]]; then
  echo "cannot write $target: it exists, and a fixture never changes; add a migration first" >&2
  exit 1
fi

work=$(mktemp -d)
files=/tmp/transferd-fixture
mkdir -p "$files"
daemon= server=
end() {
  [[ ! $daemon ]] || kill -9 "$daemon" 2>/dev/null || true
  [[ ! $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work" "$files"
}
trap end EXIT

# A server that responds to /done with ten bytes and never responds to /hang.
python3 - "$work/port" <<'PYTHON' &
import socketserver, sys, time
class Handler(socketserver.StreamRequestHandler):
  def handle(self):
    line = self.rfile.readline()
    while self.rfile.readline() not in (b"\r\n", b""): pass
    if b"/hang" in line: time.sleep(3600)
    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"a\"\r\n\r\n0123456789")
class Server(socketserver.ThreadingTCPServer):
  daemon_threads = True
server = Server(("127.0.0.1", 0), Handler)
open(sys.argv[1], "w").write(str(server.server_address[1]))
server.serve_forever()
PYTHON
server=$!
until [[ -s $work/port ]]; do sleep 0.05; done
url=http://127.0.0.1:$(<"$work/port")

export TRANSFERCTL_NO_AUTOSTART=1 TRANSFERD_SOCKET=$work/s
ctl() { "$bin/transferctl" "$@"; }
start() {
  "$bin/transferd" --state-dir "$work/state" --socket "$work/s" 2>>"$work/log" &
  daemon=$!
  until ctl status --format name >/dev/null 2>&1; do sleep 0.05; done
}
stop() {
  kill "$daemon"
  wait "$daemon" || true
  daemon=
}

start
cd "$files"
bin=$OLDPWD/$bin
secret=(--header 'Authorization: Bearer none' --header 'X-Trace: 1')
ctl add "$url/done" -o completed --batch nightly --checksum sha-256=84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882 --wait 2>/dev/null
ctl add http://user:none@127.0.0.1:9/paused --paused --batch nightly --key k-1 --priority 7 --limit-rate 1M --retries 3 "${secret[@]}"
ctl add http://127.0.0.1:9/failed --retries 0 --wait 2>/dev/null || true
ctl add http://127.0.0.1:9/cancelled --paused --create-dirs -o deep/cancelled
ctl cancel 4 2>/dev/null
ctl add http://127.0.0.1:9/removed --paused
ctl remove 5 2>/dev/null
ctl add http://127.0.0.1:9/unnamed/ --paused -J
ctl add "$url/hang" -o interrupted --paused --key interrupted
echo report >report.csv
ctl upload report.csv --to http://user:none@127.0.0.1:9/in/ --paused --batch nightly --key up-1 "${secret[@]}"
ctl upload report.csv --to http://127.0.0.1:9/in/form --protocol form --form 'token=none' --form 'file=@' --paused
ctl upload report.csv --to http://127.0.0.1:9/in/failed --retries 0 --on-success delete --wait 2>/dev/null || true
echo dump | ctl upload - --name dump.sql --to http://127.0.0.1:9/in/dump.sql --paused
ctl status --format jsonl >"$work/jobs.jsonl"
cd - >/dev/null
stop

start
ctl resume 7 2>/dev/null
until ctl status 7 --format json | grep -q '"running"'; do sleep 0.05; done
kill -9 "$daemon"
wait "$daemon" 2>/dev/null || true
daemon=
# The database file without its log is what the clean end left. All changes of the second daemon are in the log.
mkdir -p "$target"
cp "$work/jobs.jsonl" "$work/state/transferd.db" "$work/state/transferd.db-wal" "$target"
python3 - "$work/state/transferd.db" <<'PYTHON'
import shutil, sqlite3, sys
alone = sys.argv[1] + ".alone"
shutil.copy(sys.argv[1], alone)
database = sqlite3.connect(alone)
assert database.execute("SELECT value FROM meta WHERE name = 'closed'").fetchone() == ("1",), "it was not closed"
assert database.execute("SELECT state FROM job WHERE id = 7").fetchone() == ("paused",), "the log was checkpointed"
PYTHON
chmod 644 "$target"/*
ls -l "$target"
