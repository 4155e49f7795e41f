#!/bin/sh
# Installs Mailhorn on a host with systemd, from the folder of this script:
#
#   ./install.sh               program, user, settings and unit; also upgrades an installation
#   ./install.sh --uninstall   removes the program and the unit; settings and mail stay
#
# What it writes: /usr/lib/mailhorn, /usr/bin/mailhorn, /etc/mailhorn.env (only if there is none),
# /etc/systemd/system/mailhorn.service. Data is stored in /var/lib/mailhorn.
set -eu

program=/usr/lib/mailhorn
command=/usr/bin/mailhorn
settings=/etc/mailhorn.env
unit=/etc/systemd/system/mailhorn.service
here=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# A host that is being prepared, such as an image, has no running systemd.
tell_systemd() {
  if [ -d /run/systemd/system ]; then systemctl "$@"; fi
}

[ "$(id -u)" = 0 ] || fail 'run it as root'
if [ -e /var/lib/dpkg/info/mailhorn.list ]; then fail 'the package mailhorn is installed; use apt instead'; fi

case "${1:-}" in
--uninstall)
  tell_systemd disable --now mailhorn
  rm -rf "$program" "$command" "$unit"
  tell_systemd daemon-reload
  echo "Mailhorn is removed. Its settings are in $settings, its data is in /var/lib/mailhorn."
  exit
  ;;
'') ;;
*) fail "unknown option $1" ;;
esac

id mailhorn >/dev/null 2>&1 ||
  useradd --system --user-group --home-dir /var/lib/mailhorn --no-create-home --shell /usr/sbin/nologin mailhorn

# The folder is complete before it replaces the former one.
rm -rf "$program.new"
mkdir -p "$program.new"
(cd "$here" && cp -R bin build config dist node_modules package.json README.md CHANGELOG.md LICENSE THIRD-PARTY-LICENSES "$program.new")
chown -R root:root "$program.new"
rm -rf "$program.old"
if [ -e "$program" ]; then mv "$program" "$program.old"; fi
mv "$program.new" "$program"
rm -rf "$program.old"
ln -sf "$program/bin/mailhorn" "$command"

if [ ! -e "$settings" ]; then
  cp "$here/mailhorn.env" "$settings"
  chown root:mailhorn "$settings"
  chmod 640 "$settings"
fi
mkdir -p "$(dirname "$unit")"
cp "$here/mailhorn.service" "$unit"
tell_systemd daemon-reload

cat <<TEXT
Mailhorn $("$command" version) is installed.

  1. mailhorn init --write $settings    (checks this host and asks for its name; or edit the file)
  2. systemctl enable --now mailhorn    (after an upgrade: systemctl restart mailhorn)
  3. cat /var/lib/mailhorn/first-credentials
  4. mailhorn doctor
TEXT
