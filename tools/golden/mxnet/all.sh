#!/bin/sh
# Makes the cases that mvn -Pgolden compares, and with 'sample' the committed ones. Needs Python with mxnet 1.9.1.
#   tools/golden/mxnet/all.sh PYTHON [sample]
set -eu
python=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
export PYTHONDONTWRITEBYTECODE=1
if [ "${2:-}" = sample ]; then
    folder=$(mktemp -d)
    "$python" "$here/networks.py" "$folder"
    "$python" "$here/operators.py" "$folder" 46 11
    "$python" "$here/pack.py" "$folder" "$root/mxnet/src/test/resources/io/seriatim/mxnet/golden.zip"
    rm -r "$folder"
    for cases in wide regions deep_numpy; do
        folder=$(mktemp -d)
        "$python" "$here/$cases.py" "$folder"
        "$python" "$here/pack.py" "$folder" "$root/mxnet/src/test/resources/io/seriatim/mxnet/$cases.zip"
        rm -r "$folder"
    done
    exit
fi
folder=$root/target/golden/mxnet
mkdir -p "$folder"
"$python" "$here/networks.py" "$folder" --more
"$python" "$here/networks.py" "$folder" --zoo
"$python" "$here/operators.py" "$folder" 1000 1
