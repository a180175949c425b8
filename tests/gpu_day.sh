#!/usr/bin/env bash
# All that is to be run on a machine with a GPU, in this order: every kernel compiled, the suite's tests of the GPU, benchmarks/gpu.py,
# compute-sanitizer on the region tests. Without a network.
#
#   tests/gpu_day.sh [suite] [measure] [memcheck] [racecheck] [initcheck]      all of them by default
#
# Logs go to $OUT (gpu_day/ by default), 8 files of at most 8 MiB: versions.txt (with what was compiled), suite.log, measure.log, gpu.txt,
# gpu.txt.json, memcheck.log, racecheck.log, initcheck.log. Wheels in .wheels/ or .whl/ (PyCUDA and what it needs) are installed into
# .site/ where PyCUDA is missing; compiled kernels are kept in .site/kernels. A step that fails does not stop the next; the exit status
# is the number of steps that failed. Minutes a step may take: $MINUTES_COMPILE (2), $MINUTES_SUITE (8), $MINUTES_MEASURE (8),
# $MINUTES_SANITIZER (3 each); with $MINUTES they end, or are left out, when all together have taken so long.
#
# With 10 minutes at a time and 30 in all, on a machine that forgets everything between:
#
#   MINUTES=9.5 tests/gpu_day.sh suite; MINUTES=9.5 tests/gpu_day.sh measure; MINUTES=9.5 tests/gpu_day.sh memcheck racecheck initcheck
#
# With 10 minutes in all (measures first, in 3 minutes):
#
#   MINUTES=9.5 MINUTES_MEASURE=3 MEASURE=--quick MINUTES_SUITE=4 tests/gpu_day.sh measure suite memcheck
set -uo pipefail
cd "$(dirname "$0")/.."
OUT=${OUT:-gpu_day}
PYTHON=${PYTHON:-python3}
SANITIZER=${SANITIZER:-compute-sanitizer}
REGIONS="tests/test_roi_align.py tests/test_roi_align_rotated.py tests/test_psroi.py tests/test_prroi_pooling.py
  tests/test_deform_roi.py tests/test_roi_warping.py tests/test_gpu_tiles.py"
mkdir -p "$OUT"
export PYTHONUNBUFFERED=1 PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
if ! "$PYTHON" -c 'import pycuda' 2>/dev/null; then
  for folder in .wheels .whl; do
    if compgen -G "$folder/*.whl" >/dev/null; then
      "$PYTHON" -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target "$PWD/.site" "$folder"/*.whl
    fi
  done
  export PYTHONPATH="$PWD/.site:$PYTHONPATH"
fi
export BOXPRESSO_CACHE=${BOXPRESSO_CACHE:-$PWD/.site/kernels}

failed=0
end=$(awk "BEGIN { print $SECONDS + int(60 * ${MINUTES:-600}) }")

seconds() {  # MINUTES: as seconds
  awk "BEGIN { print int(60 * $1) }"
}

shorten() {  # FILE: its first and last 4 MiB
  if [ -f "$1" ] && [ "$(wc -c <"$1")" -gt $((8 << 20)) ]; then
    { head -c $((4 << 20)) "$1"; printf '\n... left out ...\n'; tail -c $((4 << 20)) "$1"; } >"$1.part" && mv "$1.part" "$1"
  fi
}

step() {  # NAME LOG SECONDS COMMAND...: runs it into $OUT/LOG behind what is there, and shows the end of that
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

sanitize() {  # TOOL [OPTION...]: that tool over the region tests on the GPU
  local tool=$1
  shift
  if ! command -v "$SANITIZER" >/dev/null; then
    echo "== $tool: $SANITIZER is not on PATH"
    failed=$((failed + 1))
    return
  fi
  # Each launch is waited for and memory is not pooled, so that an error names its kernel and every array has its bounds.
  BOXPRESSO_DEBUG=1 step "$tool" "$tool.log" "$(seconds "${MINUTES_SANITIZER:-3}")" "$SANITIZER" --tool "$tool" "$@" --error-exitcode 9 \
    --target-processes all "$PYTHON" -m pytest -q -x -m cuda -W default -p no:cacheprovider $REGIONS
}

steps=${*:-suite measure memcheck racecheck initcheck}
for what in $steps; do
  case $what in
    suite | measure | memcheck | racecheck | initcheck) rm -f "$OUT/$what.log" ;;
    *)
      echo "gpu_day.sh: unknown step '$what': suite, measure, memcheck, racecheck or initcheck" >&2
      exit 64
      ;;
  esac
done

{
  date
  nvidia-smi -L
  "$PYTHON" --version
  nvcc --version | tail -n 2
  "$PYTHON" -m boxpresso device_query
} >"$OUT/versions.txt" 2>&1
cat "$OUT/versions.txt"
step compile versions.txt "$(seconds "${MINUTES_COMPILE:-2}")" "$PYTHON" benchmarks/compile_all.py

hung=$("$PYTHON" -c 'import pytest_timeout' >/dev/null 2>&1 && echo "--timeout=120 --timeout-method=thread")
for what in $steps; do
  case $what in
    suite) step suite suite.log "$(seconds "${MINUTES_SUITE:-8}")" "$PYTHON" -m pytest -m cuda -n "${WORKERS:-8}" -W default \
      --maxfail=40 -q -rfEs --tb=short -p no:cacheprovider $hung ;;
    memcheck) sanitize memcheck --leak-check no ;;
    racecheck) sanitize racecheck ;;
    initcheck) sanitize initcheck ;;
    measure)
      minutes=$(awk "BEGIN { left = ($end - $SECONDS) / 60 - 0.5; wanted = ${MINUTES_MEASURE:-8}; print left < wanted ? left : wanted }")
      step measure measure.log "$(awk "BEGIN { print int(60 * $minutes) + 30 }")" "$PYTHON" benchmarks/gpu.py --minutes "$minutes" \
        --out "$OUT/gpu.txt" ${MEASURE:-}
      ;;
  esac
done
exit $failed
