#!/usr/bin/env bash
# Installs a wheel in bare Debian systems, with nothing but Python in them, and finds the boxes of the example: no compiler, no cache.
#
#     sudo packaging/try_bare.sh dist/boxpresso-*.whl bookworm trixie forky      # Python 3.11, 3.13 and 3.14; needs debootstrap
#     sudo packaging/try_bare.sh dist/boxpresso-*.whl bookworm:/opt/python3.12   # another Python, which is copied into the system
#     sudo BARE_ROOTS=FOLDER packaging/try_bare.sh dist/boxpresso-*.whl jammy    # a system that lies in FOLDER: Ubuntu's, for 3.10
#
# A Python that has a libpython must find it by the folder's own name: where there is no /proc, $ORIGIN means nothing.
set -euo pipefail
wheel=$(realpath "$1")
shift
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
failed=0
for system in "$@"; do
  suite=${system%%:*}
  own=${system#"$suite"}
  own=${own#:}
  kept=${BARE_ROOTS:-$work}/$suite # BARE_ROOTS: a folder that keeps the systems for the next time
  script=/usr/share/debootstrap/scripts/$suite
  [ -e "$script" ] || script=${script%/*}/sid # a suite that is newer than debootstrap
  [ -x "$kept/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3,python3-venv,libffi8,zlib1g "$suite" "$kept" http://deb.debian.org/debian "$script" >"$work/log"
  rm -rf "$kept/try" && mkdir -p "$kept/try/house" "$kept/try/empty"
  python=/usr/bin/python3
  if [ -n "$own" ]; then
    mkdir -p "$kept$own" && cp -a "$own/." "$kept$own/"
    python=$own/bin/python3
  fi
  version=$(chroot "$kept" "$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "${PYTHON:-python3}" -m pip download --quiet --only-binary=:all: --python-version "$version" --dest "$kept/try/house" "$wheel"
  cp -r "$root/examples/shapes" "$kept/try/shapes"
  chroot "$kept" "$python" -m venv /try/venv
  chroot "$kept" /try/venv/bin/pip install --quiet --no-index --find-links /try/house boxpresso
  # As a user without rights or a home, with no program on PATH.
  cat >"$kept/try/run.sh" <<'RUN'
cd /try/shapes
for name in c++ g++ gcc cc clang; do command -v $name && echo "there is a compiler" && exit 1; done
for turn in 1 2 3; do
  start=$(date +%s%N)
  env -i PATH=/try/empty HOME=/nonexistent XDG_CACHE_HOME=/dev/null /try/venv/bin/boxpresso detect deploy.prototxt \
    shapes.caffemodel scene.png --labels labels.txt --no-drawing >/tmp/found 2>/tmp/said || { cat /tmp/said; exit 1; }
  end=$(date +%s%N)
  [ -s /tmp/said ] && cat /tmp/said && exit 1
  echo "first boxes after $(((end - start) / 1000000)) ms"
done
[ "$(grep -c "circle\|box \|triangle" /tmp/found)" = 5 ] || { cat /tmp/found; exit 1; }
env -i PATH=/try/empty HOME=/nonexistent /try/venv/bin/boxpresso device_query
RUN
  echo "$suite, Python $version:"
  mount -t proc proc "$kept/proc"
  chroot --userspec=65534:65534 "$kept" /bin/sh /try/run.sh || failed=1
  umount "$kept/proc"
  echo "the same without /proc:"
  chroot --userspec=65534:65534 "$kept" /bin/sh /try/run.sh || failed=1
  echo "installed: $(du -sm "$kept/try/venv/lib" | cut -f1) MB, of it $(cd "$kept"/try/venv/lib/python*/site-packages && du -sm ./* | sort -rn | head -4 | awk '{printf "%s %s, ", $2, $1}')"
done
exit $failed
