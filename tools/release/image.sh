#!/usr/bin/env bash
# Makes an application image of the command for this platform, with a trimmed JDK inside: tools/release/image.sh JDK [FOLDER]
#
# It takes release/archive/target/seriatim-VERSION.tar.gz, which `mvn -Prelease -DskipTests package` builds, and writes FOLDER/seriatim, by default in
# target/image. JDK is the home of a JDK 25 with jlink and jpackage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
    echo "tools/release/image.sh: $*" >&2
    exit 1
}

[ $# -ge 1 ] && [ -x "$1/bin/jpackage" ] || fail "the first argument is the home of a JDK 25: '${1:-}' has no bin/jpackage"
jdk=$1
target=${2:-target/image}
version=$(sed -n 's:^  <version>\(.*\)</version>$:\1:p' pom.xml | head -n 1)
archive=release/archive/target/seriatim-$version.tar.gz
[ -s "$archive" ] || fail "there is no $archive: build it with mvn -Prelease -DskipTests package"
case $(uname -s)-$(uname -m) in
    Linux-x86_64) platform=linux-x86_64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-arm64) platform=macosx-arm64 ;;
    *) fail "there are no natives for $(uname -s) on $(uname -m)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$archive" -C "$work"
lib=$work/seriatim-$version/lib
for jar in "$lib"/dnnl-*; do
    case $jar in
        *-$platform.jar) ;;
        *) rm "$jar" ;;
    esac
done

# The jar of natives requires a module of classes that is not used.
mkdir "$work/classes"
for jar in "$lib"/*.jar; do
    case ${jar##*/} in
        dnnl-*) ;;
        *) ln -s "$jar" "$work/classes/" ;;
    esac
done
modules=$("$jdk/bin/jdeps" --multi-release 25 --ignore-missing-deps --print-module-deps --module-path "$work/classes" \
    "$work/classes"/*.jar | tail -n 1) # after warnings about automatic modules
# With what is found by name: beans of the JVM, file systems of zip files, character sets, elliptic curves.
"$jdk/bin/jlink" --add-modules "$modules,jdk.management,jdk.zipfs,jdk.charsets,jdk.crypto.ec" --strip-debug --no-header-files --no-man-pages \
    --compress zip-6 --output "$work/runtime"

rm -rf "$target/seriatim"
mkdir -p "$target"
"$jdk/bin/jpackage" --type app-image --name seriatim --app-version "$version" --dest "$target" --runtime-image "$work/runtime" --input "$lib" \
    --main-jar "seriatim-cli-$version.jar" --main-class io.seriatim.cli.Main --java-options "--enable-native-access=ALL-UNNAMED" \
    --java-options -Dstdout.encoding=UTF-8 --java-options -Dstderr.encoding=UTF-8 --java-options -Xms48m --java-options -XX:+UseSerialGC
cp LICENSE NOTICE "$target/seriatim/"
du -sk "$target/seriatim" | sed 's/\t.*/ KB/'
