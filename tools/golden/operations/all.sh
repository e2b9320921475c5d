#!/usr/bin/env bash
# Makes all cases of operations, the drawn ones that are not committed among them, for `mvn -Pgolden verify`:
# tools/golden/operations/all.sh [FOLDER, target/golden unless given]. PYTHON is a Python with PaddlePaddle 2.6.2.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
export GOLDEN_OUT="${1:-target/golden}"
for script in tools/golden/operations/*.py; do
    if grep -q 'cases.write(' "$script" && [ "$(basename "$script")" != cases.py ]; then
        echo "$(basename "$script")"
        "${PYTHON:-python3}" "$script"
    fi
done
