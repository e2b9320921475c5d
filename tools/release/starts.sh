#!/usr/bin/env bash
# Starts a small program (tools/release/starts) in each way that users have, and prints which of them work: tools/release/starts.sh JDK [LIB]
#
# JDK is the home of a JDK 25 with jlink and jpackage. LIB is a folder with the jars of a release and of what they need, by default those of
# release/archive/target/seriatim-VERSION.tar.gz, which `mvn -Prelease -DskipTests package` builds. The program trains a network, writes it as an ONNX
# file and asks it; its answers and which kernels computed them are checked. Exits with 1 if a start failed; what cannot be tried here is 'not run'.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
    echo "tools/release/starts.sh: $*" >&2
    exit 1
}

[ $# -ge 1 ] && [ -x "$1/bin/jlink" ] || fail "the first argument is the home of a JDK 25: '${1:-}' has no bin/jlink"
readonly JDK=$1
case $(uname -s)-$(uname -m) in
    Linux-x86_64) platform=linux-x86_64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-arm64) platform=macosx-arm64 ;;
    *) fail "there are no natives for $(uname -s) on $(uname -m)" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly platform work

# Java reads paths in the encoding of the locale.
export LC_ALL=C.UTF-8

# The libraries without the command, and the jar of natives beside them.
collect() {
    local version archive from jar
    if [ $# -ge 1 ]; then
        from=$1
    else
        version=$(sed -n 's:^  <version>\(.*\)</version>$:\1:p' pom.xml | head -n 1)
        archive=release/archive/target/seriatim-$version.tar.gz
        [ -s "$archive" ] || fail "there is no $archive: build it with mvn -Prelease -DskipTests package"
        tar -xzf "$archive" -C "$work"
        from=$work/seriatim-$version/lib
    fi
    mkdir "$work/lib" "$work/natives"
    for jar in "$from"/*.jar; do
        case ${jar##*/} in
            dnnl-*-"$platform".jar) cp "$jar" "$work/natives/" ;;
            dnnl-* | seriatim-cli-* | seriatim-spark-* | picocli-*) ;;
            *) cp "$jar" "$work/lib/" ;;
        esac
    done
    natives=$(echo "$work"/natives/*.jar)
    [ -s "$natives" ] || fail "$from has no dnnl-*-$platform.jar"
    [ -n "$(find "$work/lib" -name 'seriatim-executor-*.jar')" ] || fail "$from has no seriatim-executor-*.jar"
}

compile() {
    mkdir "$work/app"
    # The compiler does not find the annotations of our classes, which have the retention CLASS.
    "$JDK/bin/javac" -Xlint:all,-classfile -Werror -d "$work/app" -p "$work/lib" tools/release/starts/module-info.java tools/release/starts/app/Start.java \
        2>"$work/javac.log" || fail "$(cat "$work/javac.log")"
    "$JDK/bin/jar" --create --file "$work/app.jar" --main-class app.Start -C "$work/app" .
}

# One jar with everything, and the lines of services put together, as shading plugins do. Its manifest grants native access.
fat() {
    local jar service
    mkdir "$work/fat"
    for jar in "$work"/lib/*.jar "$natives" "$work/app.jar"; do
        mkdir "$work/one"
        (cd "$work/one" && "$JDK/bin/jar" --extract --file "$jar")
        for service in "$work"/one/META-INF/services/*; do
            if [ -f "$service" ]; then
                mkdir -p "$work/fat/META-INF/services"
                { cat "$service" && echo; } >>"$work/fat/META-INF/services/${service##*/}"
                rm "$service"
            fi
        done
        rm -rf "$work/one/module-info.class" "$work/one/META-INF/MANIFEST.MF" "$work/one/META-INF/versions"
        cp -R "$work/one/." "$work/fat/"
        rm -rf "$work/one"
    done
    printf 'Main-Class: app.Start\nEnable-Native-Access: ALL-UNNAMED\n' >"$work/manifest"
    "$JDK/bin/jar" --create --file "$work/fat.jar" --manifest "$work/manifest" -C "$work/fat" .
}

# A jar of natives whose library is none: as with another C library, the system does not load it.
broken_natives() {
    mkdir -p "$work/broken/org/bytedeco/dnnl/$platform"
    local name
    for name in libgomp.so.1 libdnnl.so.3 libomp.dylib libdnnl.3.dylib; do
        echo 'no library' >"$work/broken/org/bytedeco/dnnl/$platform/$name"
    done
    "$JDK/bin/jar" --create --file "$work/broken.jar" -C "$work/broken" .
}

runtime() {
    local modules
    modules=$("$JDK/bin/jdeps" --multi-release 25 --ignore-missing-deps --print-module-deps --module-path "$work/lib" "$work"/lib/*.jar | tail -n 1)
    "$JDK/bin/jlink" --add-modules "$modules" --strip-debug --no-header-files --no-man-pages --output "$work/runtime"
}

image() {
    mkdir "$work/input"
    cp "$work"/lib/*.jar "$natives" "$work/app.jar" "$work/input/"
    "$JDK/bin/jpackage" --type app-image --name start --dest "$work/image" --runtime-image "$work/runtime" --input "$work/input" \
        --main-jar app.jar --main-class app.Start --java-options --enable-native-access=ALL-UNNAMED
}

row() {
    printf '%-44s %-8s %s\n' "$1" "$2" "$3"
}

# start NAME KERNELS MESSAGE COMMAND…: the program must end normally, its last line must name the kernels and have both answers, and if MESSAGE is not
# empty, the log must have it.
start() {
    local name=$1 kernels=$2 message=$3 rc=0
    shift 3
    "$@" >"$work/out" 2>"$work/err" || rc=$?
    if [ "$rc" = 0 ] && [ "$(tail -n 1 "$work/out")" = "$kernels: positive and negative" ] && grep -qF -e "$message" "$work/err" "$work/out"; then
        row "$name" ok "$kernels kernels${message:+, \"$message\"}"
    else
        failures=$((failures + 1))
        row "$name" failed "exit code $rc; expected '$kernels: positive and negative'${message:+ and \"$message\"}, but it printed:"
        sed 's/^/    /' "$work/out" "$work/err" | head -n 30
    fi
}

# made NAME FUNCTION: what a later start needs; its failure is a failure of that start.
made() {
    if ! "$2" >"$work/log" 2>&1; then
        failures=$((failures + 1))
        row "$1" failed "it could not be built:"
        sed 's/^/    /' "$work/log" | head -n 30
        return 1
    fi
}

failures=0
collect "${@:2}"
compile
readonly JAVA=$JDK/bin/java ACCESS=--enable-native-access=ALL-UNNAMED CLASSES="$work/app.jar:$work/lib/*:$natives"
readonly MODULES=--enable-native-access=io.seriatim.device,io.seriatim.tensor

start "class path" oneDNN '' "$JAVA" $ACCESS -cp "$CLASSES" app.Start
start "class path, without the option" oneDNN 'WARNING: Use --enable-native-access' "$JAVA" -cp "$CLASSES" app.Start
start "module path" oneDNN '' "$JAVA" $MODULES -p "$work/app.jar:$work/lib:$work/natives" -m app/app.Start
start "module path, natives on the class path" oneDNN '' "$JAVA" $MODULES -p "$work/app.jar:$work/lib" -cp "$natives" -m app/app.Start
start "native access denied, with the option" oneDNN '' "$JAVA" --illegal-native-access=deny $ACCESS -cp "$CLASSES" app.Start
start "native access denied, without it" Java 'start it with --enable-native-access=ALL-UNNAMED' "$JAVA" --illegal-native-access=deny \
    -cp "$CLASSES" app.Start
start "native access denied, modules without it" Java 'start it with --enable-native-access=io.seriatim.device,io.seriatim.tensor' "$JAVA" \
    --illegal-native-access=deny -p "$work/app.jar:$work/lib:$work/natives" -m app/app.Start
if made "one jar" fat; then
    start "one jar" oneDNN '' "$JAVA" --illegal-native-access=deny -jar "$work/fat.jar"
fi
if made "jlink" runtime; then
    start "jlink, class path" oneDNN '' "$work/runtime/bin/java" $ACCESS -cp "$CLASSES" app.Start
    start "jlink, module path" oneDNN '' "$work/runtime/bin/java" $MODULES -p "$work/app.jar:$work/lib:$work/natives" -m app/app.Start
    if ! command -v objcopy >/dev/null && [ "$(uname -s)" = Linux ]; then
        row "jpackage" "not run" "jpackage needs objcopy (the package binutils)"
    elif made "jpackage" image; then
        program=$work/image/start/bin/start
        [ -x "$program" ] || program=$work/image/start.app/Contents/MacOS/start
        start "jpackage" oneDNN '' "$program"
    fi
fi
start "without natives" Java 'add the artifact io.seriatim:seriatim-natives-' "$JAVA" $ACCESS -cp "$work/app.jar:$work/lib/*" app.Start
broken_natives
start "natives that the system cannot load" Java 'oneDNN could not be loaded' "$JAVA" $ACCESS "-Dseriatim.natives=$work" \
    -cp "$work/app.jar:$work/lib/*:$work/broken.jar" app.Start
touch "$work/file"
start "home that cannot be written" oneDNN '' env -u XDG_CACHE_HOME "$JAVA" $ACCESS "-Duser.home=$work/file" "-Djava.io.tmpdir=$work" -cp "$CLASSES" app.Start
start "256 MB (-XX:MaxRAM=256m)" oneDNN '' "$JAVA" $ACCESS -XX:MaxRAM=256m -cp "$CLASSES" app.Start
start "one processor" oneDNN '' "$JAVA" $ACCESS -XX:ActiveProcessorCount=1 -cp "$CLASSES" app.Start
for collector in Serial Parallel G1 Z; do
    start "collector $collector" oneDNN '' "$JAVA" $ACCESS "-XX:+Use${collector}GC" -cp "$CLASSES" app.Start
done
if command -v native-image >/dev/null; then
    native() { native-image -cp "$(echo "$work"/lib/*.jar "$natives" "$work/app.jar" | tr ' ' ':')" $ACCESS -o "$work/native" app.Start; }
    made "GraalVM native image" native && start "GraalVM native image" oneDNN '' "$work/native"
else
    row "GraalVM native image" "not run" "there is no native-image here"
fi
for other in linux-x86_64 linux-arm64 macosx-arm64 windows-x86_64 "Linux with musl"; do
    [ "$other" = "$platform" ] || row "$other" "not run" "this is $platform"
done
[ "$failures" = 0 ] || fail "$failures starts failed"
