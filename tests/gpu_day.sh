#!/usr/bin/env bash
# All that is to be run on a machine with a GPU, in this order: the suite's tests of the GPU, compute-sanitizer on the region
# tests, then benchmarks/gpu.py. Without a network.
#
#   tests/gpu_day.sh [suite] [memcheck] [racecheck] [initcheck] [measure]      all of them by default
#
# Logs go to $OUT (gpu_day/ by default): versions.txt, suite.log, memcheck.log, racecheck.log, initcheck.log, gpu.txt and
# gpu.txt.json. Wheels in .wheels/ or .whl/ (PyCUDA and what it needs) are installed into .site/ where PyCUDA is missing.
# A step that fails does not stop the next; the exit status is the number of steps that failed. Minutes a step may take:
# $MINUTES_SUITE (8), $MINUTES_SANITIZER (3 each), $MINUTES_MEASURE (8).
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
step() {  # NAME SECONDS COMMAND...: runs it into $OUT/NAME.log, and shows the end of that
  local name=$1 seconds=$2 status start=$SECONDS
  shift 2
  echo "== $name: $*"
  timeout --kill-after=10 "$seconds" "$@" >"$OUT/$name.log" 2>&1
  status=$?
  tail -n 12 "$OUT/$name.log"
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
  BOXPRESSO_DEBUG=1 step "$tool" $((60 * ${MINUTES_SANITIZER:-3})) "$SANITIZER" --tool "$tool" "$@" --error-exitcode 9 \
    --target-processes all "$PYTHON" -m pytest -q -x -m cuda -W default -p no:cacheprovider $REGIONS
}

{
  date
  nvidia-smi -L
  "$PYTHON" --version
  nvcc --version | tail -n 2
  "$PYTHON" -m boxpresso device_query
} >"$OUT/versions.txt" 2>&1
cat "$OUT/versions.txt"

for what in ${@:-suite memcheck racecheck initcheck measure}; do
  case $what in
    suite) step suite $((60 * ${MINUTES_SUITE:-8})) "$PYTHON" -m pytest -m cuda -n "${WORKERS:-8}" -W default --maxfail=40 -q ;;
    memcheck) sanitize memcheck --leak-check no ;;
    racecheck) sanitize racecheck ;;
    initcheck) sanitize initcheck ;;
    measure) step measure $((60 * ${MINUTES_MEASURE:-8} + 30)) "$PYTHON" benchmarks/gpu.py --minutes "${MINUTES_MEASURE:-8}" \
      --out "$OUT/gpu.txt" ${MEASURE:-} ;;
    *)
      echo "gpu_day.sh: unknown step '$what': suite, memcheck, racecheck, initcheck or measure" >&2
      exit 64
      ;;
  esac
done
exit $failed
