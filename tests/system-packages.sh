#!/bin/sh
# Debian packages the tests use. Installed where we are root on Debian or Ubuntu; elsewhere only named.
set -eu
missing=""
command -v git >/dev/null || missing="$missing git"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing
else
    echo "error: the tests need:$missing (Debian: apt install$missing)" >&2
    exit 1
fi
