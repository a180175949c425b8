#!/usr/bin/env bash
# All that is to be run on a machine with a GPU. Without a network, and without PyCUDA beforehand.
#
#   tests/gpu_day.sh [prove] [time] [memcheck] [racecheck] [initcheck]      all of them by default; "sanitise" is the last three
#   tests/gpu_day.sh archive [FILE]      no GPU: what that machine needs, the tree and .wheels/, as one file (gpu_day.tar.gz)
#
# prove: every kernel is compiled and loaded, then the suite's tests of the GPU. time: benchmarks/gpu.py. memcheck, racecheck and
# initcheck: compute-sanitizer on the region tests. In this order whatever the order of the words: a time says nothing of a kernel that
# is wrong, and the sanitizers are the slowest. Each step takes less than 10 minutes, and one that fails does not stop the next.
#
# It ends at once, with status 69, where no device answers; the exit status is else the number of steps that failed (64: a wrong word).
# Logs go to $OUT (gpu_day/ by default), of at most 8 MiB each: versions.txt (with what was compiled), prove.log, time.log, gpu.txt,
# gpu.txt.json, memcheck.log, racecheck.log, initcheck.log. Where $PYTHON (python3) has no PyCUDA, that is installed into .site/ from
# .wheels/ or .whl/: a wheel that fits this Python, else built of its source archive there by this Python. Compiled kernels are kept in
# .site/kernels. Minutes a step may take: $MINUTES_COMPILE (2), $MINUTES_PROVE (7), $MINUTES_TIME (8), $MINUTES_SANITISE (3 each);
# with $MINUTES they end, or are left out, when all together have taken so long.
#
# With 10 minutes at a time and 30 in all, on a machine that forgets everything between:
#
#   MINUTES=9.5 tests/gpu_day.sh prove; MINUTES=9.5 tests/gpu_day.sh time; MINUTES=9.5 tests/gpu_day.sh sanitise
#
# With 10 minutes in all:
#
#   MINUTES=9.5 MINUTES_PROVE=4 MINUTES_TIME=2.5 TIME=--quick tests/gpu_day.sh prove time memcheck
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70
OUT=${OUT:-gpu_day}
PYTHON=${PYTHON:-python3}
SANITIZER=${SANITIZER:-compute-sanitizer}
ARCHIVE_MIB=64 # what may be carried to such a machine
REGIONS=(tests/layers/regions/test_roi_align.py tests/layers/regions/test_roi_align_rotated.py tests/layers/regions/test_psroi.py tests/layers/regions/test_prroi_pooling.py
  tests/layers/regions/test_deform_roi.py tests/layers/regions/test_roi_warping.py tests/layers/regions/test_tiles.py)

archive() { # FILE: packs the tree as git has it, changes included, and the wheels
  local file=$1 size folder path
  {
    git ls-files -z --cached --others --exclude-standard
    for folder in .wheels .whl; do [ ! -d "$folder" ] || find "$folder" -type f -print0; done
  } | while IFS= read -r -d '' path; do
    if [ -f "$path" ] && [ ! "$path" -ef "$file" ]; then printf '%s\0' "$path"; fi
  done | tar --create --gzip --file "$file" --null --files-from - || return 1
  size=$(wc -c <"$file")
  echo "$file: $((size / 1024)) KiB"
  [ "$size" -lt $((ARCHIVE_MIB << 20)) ] || {
    echo "gpu_day.sh: $file is larger than $ARCHIVE_MIB MiB; take what is large out of .wheels" >&2
    return 1
  }
}

answers() { # whether the driver names a device; says what is missing where it does not. It needs no PyCUDA
  "$PYTHON" - <<'END'
import ctypes, sys
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    sys.exit(f"no device answers: the driver's library cannot be loaded ({error})")
status, count = driver.cuInit(0), ctypes.c_int()
if status:
    sys.exit(f"no device answers: cuInit of the NVIDIA driver says {status}")
status = driver.cuDeviceGetCount(ctypes.byref(count))
if status or not count.value:
    sys.exit(f"no device answers: the NVIDIA driver counts {count.value} (status {status})")
END
}

installed() { # puts what this Python lacks of PyCUDA, Boxpresso's needs and pytest into .site; whether PyCUDA can be imported then
  local folder links=() missing=() pair home=$PWD/.site/home nvcc build=()
  for folder in .wheels .whl; do
    [ ! -d "$folder" ] || links+=(--find-links "$folder")
    ! compgen -G "$folder/*.tar.gz" >/dev/null || build=(setuptools.command.bdist_wheel:setuptools) # what builds it, from version 70 on
  done
  for pair in "${build[@]}" pycuda:pycuda pytools:pytools mako:mako markupsafe:markupsafe platformdirs:platformdirs siphash24:siphash24 \
    google.protobuf:protobuf PIL:pillow lmdb:lmdb pytest:pytest xdist:pytest-xdist pytest_timeout:pytest-timeout; do
    "$PYTHON" -c "import ${pair%:*}" 2>/dev/null || missing+=("${pair#*:}")
  done
  if [ ${#links[@]} -gt 0 ] && [ ${#missing[@]} -gt 0 ]; then
    # A source archive is built by this Python, with the machine's numpy and toolkit; PyCUDA's setup reads the second line's file.
    mkdir -p "$home"
    echo 'CUDA_ENABLE_CURAND = False' >"$home/.aksetup-defaults.py"
    nvcc=$(command -v nvcc) && export CUDA_ROOT=${CUDA_ROOT:-$(dirname "$(dirname "$(readlink -f "$nvcc")")")}
    for pair in "${missing[@]}"; do
      HOME=$home "$PYTHON" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation --no-compile \
        --no-cache-dir --upgrade --target "$PWD/.site" "${links[@]}" "$pair" || echo "$pair is missing, and is not in ${links[*]}"
    done
  fi
  "$PYTHON" -c 'import pycuda.driver, pycuda.tools; print("PyCUDA", pycuda.VERSION_TEXT)'
}

failed=0
end=0

seconds() { # MINUTES: as seconds
  awk "BEGIN { print int(60 * $1) }"
}

shorten() { # FILE: its first and last 4 MiB
  if [ -f "$1" ] && [ "$(wc -c <"$1")" -gt $((8 << 20)) ]; then
    { head -c $((4 << 20)) "$1"; printf '\n... left out ...\n'; tail -c $((4 << 20)) "$1"; } >"$1.part" && mv "$1.part" "$1"
  fi
}

step() { # NAME LOG SECONDS COMMAND...: runs it into $OUT/LOG behind what is there, and shows the end of that
  local name=$1 log=$OUT/$2 limit=$3 status start=$SECONDS
  shift 3
  local left=$((end - SECONDS))
  [ $left -ge "$limit" ] || limit=$left
  if [ $left -lt 4 ]; then
    echo "== $name: left out, no time is left" | tee -a "$log"
    failed=$((failed + 1))
    return
  fi
  echo "== $name, $limit s at most: $*"
  # An interrupt first: pytest then still says what has failed until then.
  timeout --signal=INT --kill-after=15 "$limit" "$@" >>"$log" 2>&1
  status=$?
  tail -n 12 "$log"
  shorten "$log"
  echo "== $name: status $status after $((SECONDS - start)) s"
  [ $status -eq 0 ] || failed=$((failed + 1))
}

sanitise() { # TOOL [OPTION...]: that tool over the region tests on the GPU
  local tool=$1
  shift
  if ! command -v "$SANITIZER" >/dev/null; then
    echo "== $tool: $SANITIZER is not on PATH" | tee -a "$OUT/$tool.log"
    failed=$((failed + 1))
    return
  fi
  # Each launch is waited for and memory is not pooled, so that an error names its kernel and every array has its bounds. An error
  # of one kernel says nothing of the next: a few are waited for.
  BOXPRESSO_DEBUG=1 step "$tool" "$tool.log" "$(seconds "${MINUTES_SANITISE:-3}")" "$SANITIZER" --tool "$tool" "$@" --error-exitcode 9 \
    --target-processes all "$PYTHON" -m pytest -q --maxfail=5 -m cuda -W default -p no:cacheprovider "${REGIONS[@]}"
}

export PYTHONUNBUFFERED=1 PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
if [ "${1:-}" = archive ]; then
  archive "${2:-gpu_day.tar.gz}"
  exit
fi
wanted=" "
for what in "${@:-prove time sanitise}"; do
  for word in $what; do
    case $word in
      prove | time | memcheck | racecheck | initcheck) wanted="$wanted$word " ;;
      sanitise) wanted="${wanted}memcheck racecheck initcheck " ;;
      *)
        echo "gpu_day.sh: unknown step '$word': prove, time, sanitise, memcheck, racecheck, initcheck, or archive alone" >&2
        exit 64
        ;;
    esac
  done
done
answers || exit 69

mkdir -p "$OUT"
end=$(awk "BEGIN { print $SECONDS + int(60 * ${MINUTES:-600}) }")
for what in prove time memcheck racecheck initcheck; do
  [[ $wanted != *" $what "* ]] || rm -f "$OUT/$what.log"
done
rm -f "$OUT/versions.txt"
export PYTHONPATH="$PWD/.site:$PYTHONPATH" BOXPRESSO_CACHE=${BOXPRESSO_CACHE:-$PWD/.site/kernels}
installed >"$OUT/versions.txt" 2>&1 || failed=$((failed + 1))
{
  date
  nvidia-smi -L
  "$PYTHON" --version
  nvcc --version | tail -n 2
  "$PYTHON" -m boxpresso device_query
} >>"$OUT/versions.txt" 2>&1
cat "$OUT/versions.txt"

if [[ $wanted == *" prove "* ]]; then
  step compile versions.txt "$(seconds "${MINUTES_COMPILE:-2}")" "$PYTHON" benchmarks/compile_all.py
  hung=()
  "$PYTHON" -c 'import pytest_timeout' 2>/dev/null && hung=(--timeout=120 --timeout-method=thread)
  step prove prove.log "$(seconds "${MINUTES_PROVE:-7}")" "$PYTHON" -m pytest -m cuda -n "${WORKERS:-8}" -W default \
    --maxfail=40 -q -rfEs --tb=short -p no:cacheprovider "${hung[@]}"
fi
if [[ $wanted == *" time "* ]]; then
  minutes=$(awk "BEGIN { left = ($end - $SECONDS) / 60 - 0.5; wanted = ${MINUTES_TIME:-8}; print left < wanted ? left : wanted }")
  # shellcheck disable=SC2086  # several words
  step time time.log "$(awk "BEGIN { print int(60 * $minutes) + 30 }")" "$PYTHON" benchmarks/gpu.py --minutes "$minutes" \
    --out "$OUT/gpu.txt" ${TIME:-}
fi
[[ $wanted != *" memcheck "* ]] || sanitise memcheck --leak-check no
[[ $wanted != *" racecheck "* ]] || sanitise racecheck
[[ $wanted != *" initcheck "* ]] || sanitise initcheck
exit $failed
