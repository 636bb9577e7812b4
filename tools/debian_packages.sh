#!/bin/sh
# Installs the named Debian packages that are missing; without root, says in one sentence what to run.
set -eu

missing=
for package in "$@"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "These Debian packages are needed, and this machine has no apt-get: install what corresponds to$missing." >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "Debian packages are missing: run \`sudo apt-get install$missing\`, then make again." >&2
    exit 1
fi

echo "Installing Debian packages:$missing ..."
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { apt-get install --yes --no-install-recommends $missing >"$log" 2>&1; }
# A new machine or container has no package lists yet, and old ones may name versions that are gone.
install || { apt-get update >"$log" 2>&1 && install; } || {
    cat "$log" >&2
    echo "apt-get could not install$missing: its output is above." >&2
    exit 1
}
