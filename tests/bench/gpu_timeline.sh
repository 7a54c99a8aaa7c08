#!/bin/sh
# Ten million activity records of an invented run as an Nsight Systems export: load and analyse.
# usage: gpu_timeline.sh STRATA [RECORDS]
# Prints seconds and the peak of memory. The export is made with sqlite3 and removed afterwards.
strata=${1:?usage: gpu_timeline.sh STRATA [RECORDS]}
records=${2:-10000000}
launches=$((records / 2))
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
sqlite3 "$dir/big.sqlite" <<SQL
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaDeviceSynchronize_v3020');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO StringIds SELECT 100 + i, 'kernel_' || i || '<float, 4>(Params)' FROM n;
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
    contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER,
    gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
    staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,
    graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $launches - 1)
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
SELECT i * 5000 + 3000, i * 5000 + 6000 + i * 7919 % 4000, 0, 1, 7 + i % 4, i, 4242 << 24,
    100 + i * 31 % 100, 100 + i * 31 % 100, 64, 1 + i * 31 % 100, 1, 1, 256, 1, 1, 0, 0, 0, NULL
FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $launches - 1)
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
SELECT i * 5000, i * 5000 + 2000, 0, (4242 << 24) + 4242, i, 1 + (i % 1000 = 0), 0 FROM n;
SQL
/usr/bin/time -f '%e s wall, %U s user, %S s system, %M KiB' \
    "$strata" gpu timeline "$dir/big.sqlite" --json >"$dir/out.json" || exit 1
grep -o '"kernel_count": *[0-9]*' "$dir/out.json"
