#!/usr/bin/env bash
# Stages a release in a folder, and checks it there as a stranger would use it: tools/release/check.sh [--staged] [MAVEN OPTION…]
#
# --staged takes what an earlier call left in target/staging. Other options go to Maven, which builds and stages without a key; -Dgpg.keyname=KEY
# signs, and the signatures are verified. The consumer has a local repository of its own in target/release, so that nothing installed on this machine
# takes part; its downloads from Maven Central are kept between calls.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly STAGING=$PWD/target/staging WORK=$PWD/target/release
readonly LIBRARIES="engine device tensor graph cluster executor onnx mxnet train spark"
readonly POMS="bom natives-linux-x86_64 natives-linux-arm64 natives-macosx-arm64 natives-windows-x86_64"
VERSION=$(sed -n 's:^  <version>\(.*\)</version>$:\1:p' pom.xml | head -n 1)
readonly VERSION

fail() {
    echo "tools/release/check.sh: $*" >&2
    exit 1
}

stage() {
    rm -rf "$STAGING"
    mvn -B -q -Prelease -DskipTests "$@" deploy
}

# Maven Central refuses a bundle in which one of these is missing.
check_files() {
    local name base file files=0
    for name in $LIBRARIES $POMS; do
        base=$STAGING/io/seriatim/seriatim-$name/$VERSION/seriatim-$name-$VERSION
        check_pom "$base.pom"
        [ -s "$base-cyclonedx.json" ] || fail "there is no $base-cyclonedx.json"
        case " $LIBRARIES " in
            *" $name "*)
                for file in "$base.jar" "$base-sources.jar" "$base-javadoc.jar"; do
                    [ -s "$file" ] || fail "there is no $file"
                done
                for file in META-INF/LICENSE META-INF/NOTICE; do
                    unzip -tqq "$base.jar" "$file" >/dev/null || fail "$base.jar has no $file"
                done
                check_module "$name" "$base.jar"
                ;;
        esac
        for file in "$base"*; do
            case $file in
                *.md5 | *.sha1 | *.sha256 | *.sha512 | *.asc) continue ;;
            esac
            [ "$(cat "$file.md5")" = "$(md5sum <"$file" | cut -d' ' -f1)" ] || fail "$file.md5 is wrong"
            [ "$(cat "$file.sha1")" = "$(sha1sum <"$file" | cut -d' ' -f1)" ] || fail "$file.sha1 is wrong"
            if [ -n "$signed" ]; then
                gpg --batch --verify "$file.asc" "$file" 2>/dev/null || fail "$file.asc does not sign it"
            fi
            files=$((files + 1))
        done
    done
    check_spark "$STAGING/io/seriatim/seriatim-spark/$VERSION/seriatim-spark-$VERSION.pom"
    for file in "$STAGING"/io/seriatim/*; do
        name=${file##*/seriatim-}
        case " $LIBRARIES $POMS " in
            *" $name "*) ;;
            *) fail "${file##*/} is not to be published" ;;
        esac
    done
    echo "staged: $files files of $(echo $LIBRARIES $POMS | wc -w) artifacts, complete, with checksums${signed:+ and signatures}"
}

# Spark's jars share packages, so that no descriptor can require them: its module has a name only.
check_module() {
    if [ "$1" = spark ]; then
        unzip -p "$2" META-INF/MANIFEST.MF | tr -d '\r' | grep -qx 'Automatic-Module-Name: io.seriatim.spark' ||
            fail "$2 has no name of a module"
    else
        unzip -tqq "$2" module-info.class >/dev/null || fail "$2 has no module-info.class"
    fi
}

# A cluster has its own Spark, which jars of an application must not replace.
check_spark() {
    local scopes
    scopes=$(sed -n '/<groupId>org.apache.spark</,/<\/dependency>/p; /<groupId>org.scala-lang</,/<\/dependency>/p' "$1" | grep '<scope>' | sort -u | tr -d ' ')
    [ "$scopes" = '<scope>provided</scope>' ] || fail "$1 needs Spark in the scope provided, but has: ${scopes:-none}"
}

check_pom() {
    local element
    [ -s "$1" ] || fail "there is no $1"
    for element in name description url license developer scm; do
        grep -q "<$element[ >]" "$1" || fail "$1 has no <$element>"
    done
    if grep -E '<(parent|profile|repository)>|-SNAPSHOT|<scope>test' "$1"; then
        fail "$1 has what its users could not resolve"
    fi
    # A BOM refers to its own version.
    if grep -v '{project.version}' "$1" | grep -F "\${"; then
        fail "$1 has properties that are not resolved"
    fi
}

# tools/release/sizes.txt says how large each file may be, so that growth is a decision.
check_sizes() {
    local file most size
    while read -r file most; do
        case $file in
            '#'* | '') continue ;;
        esac
        file=${file//VERSION/$VERSION}
        size=$(($(wc -c <"$file") / 1024))
        printf '%8d KB of at most %6d  %s\n' "$size" "$most" "${file##*/}"
        [ "$size" -le "$most" ] || fail "$file has $size KB, more than $most: make it smaller, or change tools/release/sizes.txt"
    done <tools/release/sizes.txt
}

check_archive() {
    rm -rf "$WORK/archive"
    mkdir -p "$WORK/archive"
    tar -xzf "release/archive/target/seriatim-$VERSION.tar.gz" -C "$WORK/archive"
    home=$WORK/archive/seriatim-$VERSION
    [ "$("$home/bin/seriatim" --version | head -n 1)" = "seriatim $VERSION" ] || fail "bin/seriatim is of another version"
    [ -s "$home/LICENSE" ] && [ -s "$home/NOTICE" ] || fail "the archive has no licence"
    echo "archive: bin/seriatim starts"
}

platform() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64) echo linux-x86_64 ;;
        Linux-aarch64) echo linux-arm64 ;;
        Darwin-arm64) echo macosx-arm64 ;;
        *) fail "there are no natives for $(uname -s) on $(uname -m)" ;;
    esac
}

# The consumer's jar and libraries are in a folder of their own, and nothing else is on its class path.
build_consumer() {
    rm -rf "$WORK/consumer" "$WORK/repository/io/seriatim"
    mkdir -p "$WORK"
    cp -r tools/release/consumer "$WORK/consumer"
    mvn -B -q -f "$WORK/consumer/pom.xml" -Dmaven.repo.local="$WORK/repository" -Dstaging="file://$STAGING" -Dseriatim="$VERSION" \
        -Dnatives="$(platform)" package
    echo "consumer: built, with $(find "$WORK/consumer/target/lib" -name '*.jar' | wc -l) jars"
}

consumer() {
    "$java" --enable-native-access=ALL-UNNAMED -cp "$WORK/consumer/target/consumer.jar:$WORK/consumer/target/lib/*" "$@"
}

# The JDK that the archive's command found.
jdk() {
    SERIATIM_JAVA_OPTS=-XshowSettings:properties "$home/bin/seriatim" doctor 2>&1 | sed -n 's/^ *java.home = //p'
}

# A network that the archive trained, as an ONNX file, classifies pictures in the consumer.
check_pictures() {
    local data=$WORK/pictures kind answer
    rm -rf "$data" "$WORK/run"
    mkdir -p "$data"
    consumer app.Pictures "$data"
    "$home/bin/seriatim" train lenet --data "$data" --steps 40 --out "$WORK/run" >"$WORK/train.log" 2>&1 || fail "$(cat "$WORK/train.log")"
    "$home/bin/seriatim" convert "$WORK/run/model.pdmodel" "$WORK/model.onnx" >"$WORK/convert.log" 2>&1 || fail "$(cat "$WORK/convert.log")"
    for kind in 0 1; do
        answer=$(consumer app.Classify "$WORK/model.onnx" "$WORK/class$kind.npy")
        [ "$answer" = "class $kind" ] || fail "a picture of class $kind is said to be of $answer"
    done
    echo "consumer: classifies pictures with an ONNX file"
}

check_table() {
    rm -rf "$WORK/table" "$WORK/project"
    mkdir -p "$WORK/table"
    "$home/bin/seriatim" init "$WORK/project" >/dev/null
    consumer app.TrainTable "$WORK/project/travel.csv" "$WORK/table" >"$WORK/table.log"
    grep -qx 'Ghent, 4 km: cycles' "$WORK/table.log" || fail "the table was not learnt: $(cat "$WORK/table.log")"
    grep -qx 'Bern, 14 km: rides' "$WORK/table.log" || fail "the table was not learnt: $(cat "$WORK/table.log")"
    [ -s "$WORK/table/table.json" ] || fail "the encoding was not saved"
    echo "consumer: trains on a table with texts"
}

# Answers well-formed requests and refuses others, on a port that the system chooses.
check_service() {
    local port='' server status i
    consumer app.Serve "$WORK/model.onnx" >"$WORK/serve.log" 2>&1 &
    server=$!
    for i in $(seq 300); do
        port=$(grep -x '[0-9]*' "$WORK/serve.log" || true)
        [ -z "$port" ] || break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    if [ -n "$port" ]; then
        status=$(curl -s -o "$WORK/answer" -w '%{http_code}' --data-binary "@$WORK/class1.npy" "localhost:$port/" || true)
        status=$status-$(curl -s -o /dev/null -w '%{http_code}' --data-binary nonsense "localhost:$port/" || true)
    fi
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    [ "${status:-}" = 200-400 ] || fail "the service answered ${status:-nothing}: $(cat "$WORK/serve.log")"
    echo "consumer: serves it, $(cat "$WORK/answer")"
}

signed=
staged=
if [ "${1:-}" = --staged ]; then
    staged=yes
    shift
fi
case " $* " in
    *" -Dgpg.keyname="*) signed=yes ;;
esac
[ -n "$staged" ] || stage "$@"
check_files
check_sizes
check_archive
jdk=$(jdk)
java=$jdk/bin/java
tools/release/starts.sh "$jdk" "$home/lib"
build_consumer
check_pictures
check_table
check_service
