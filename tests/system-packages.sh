#!/bin/sh
# Debian packages the tests use. Installed where we are root on Debian or Ubuntu; elsewhere only named.
# Without chromium the test of the review page in a browser is skipped.
set -eu
needed=""
wanted=""
command -v git >/dev/null || needed="$needed git"
command -v chromium >/dev/null || wanted="$wanted chromium"
[ -z "$needed$wanted" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $needed $wanted
elif [ -n "$needed" ]; then
    echo "error: the tests need:$needed (Debian: apt install$needed)" >&2
    exit 1
fi
