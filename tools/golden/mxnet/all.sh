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
    folder=$(mktemp -d)
    "$python" "$here/wide.py" "$folder"
    "$python" "$here/pack.py" "$folder" "$root/mxnet/src/test/resources/io/seriatim/mxnet/wide.zip"
    rm -r "$folder"
    exit
fi
folder=$root/target/golden/mxnet
mkdir -p "$folder"
"$python" "$here/networks.py" "$folder" --more
"$python" "$here/networks.py" "$folder" --zoo
"$python" "$here/operators.py" "$folder" 1000 1
