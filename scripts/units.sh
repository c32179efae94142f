#!/usr/bin/env bash
# units.sh [BIN]: runs the two systemd units under a real systemd, in a container without a network. The container sees this
# machine's files through an overlay in memory. The script checks what `systemd-analyze` cannot: that the programs work under
# the units' restrictions, and that two members of the group are separated.
#
# Needs root and systemd-container. BIN is the directory of the programs (.build/release). Exits with 77 if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-.build/release}

unable() {
  echo "cannot run the units: $1" >&2
  exit 77
}
((EUID == 0)) || unable "not root; run it as root"
command -v systemd-nspawn >/dev/null || unable "systemd-nspawn is missing; run apt-get install systemd-container"
[[ -x $bin/transferd && -x $bin/transferctl ]] || unable "no programs in $bin; run make release"

work=$(mktemp -d)
root=$work/root
end() {
  umount "$root" 2>/dev/null || true
  umount "$work" 2>/dev/null || true
  rmdir "$work"
}
trap end EXIT
mount -t tmpfs transferd-units "$work"
mkdir "$work/upper" "$work/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$root"

install -m 755 "$bin/transferd" "$bin/transferctl" "$root/usr/local/bin/"
install -D -m 644 packaging/transferd.sysusers "$root/usr/lib/sysusers.d/transferd.conf"
install -D -m 644 packaging/system/transferd.service "$root/etc/systemd/system/transferd.service"
install -D -m 644 packaging/user/transferd.service "$root/etc/systemd/user/transferd.service"
install -m 755 scripts/units-inside.sh "$root/srv/units-inside.sh"
cat >"$root/etc/systemd/system/units-test.service" <<'UNIT'
[Unit]
After=multi-user.target systemd-user-sessions.service
[Service]
ExecStart=/bin/sh -c '/srv/units-inside.sh >/srv/units.log 2>&1; echo $? >/srv/units.status; systemctl poweroff'
UNIT
wants=$root/etc/systemd/system/multi-user.target.wants
rm -rf "$wants"
mkdir -p "$wants"
ln -s /etc/systemd/system/units-test.service "$wants/units-test.service"
ln -sf /lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"

SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 timeout 300 systemd-nspawn --quiet --directory "$root" --machine transferd-units \
  --register=no --keep-unit --private-network --boot </dev/null >"$work/boot.log" 2>&1 || true
if [[ ! -s $root/srv/units.status ]]; then
  tail -n 30 "$work/boot.log" >&2
  echo "cannot run the units: the container ended before the checks; its last output is above" >&2
  exit 1
fi
cat "$root/srv/units.log"
exit "$(<"$root/srv/units.status")"
