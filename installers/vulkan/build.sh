#!/usr/bin/env bash
# Get what a Vulkan build of llama.cpp needs on Debian, Ubuntu or a kin of theirs, and build it.
#
#   bash installers/vulkan/build.sh [--tools | --newer-tools]
#
# With --tools and --newer-tools it gets them and builds nothing: installers/native/build.py does.
# Packages are built with the system's compiler of shaders, --tools, as newer ones make them larger;
# a build for this computer, and a pack for newer cards, with one that knows what these can do.
#
# Installs system packages (as root, or through sudo). Vulkan headers older than llama.cpp asks for,
# and a compiler of shaders that does not know what newer cards can do, as in Debian 12, are not
# replaced: newer ones are unpacked into .cache/vulkan, for this build alone. They come from the
# package mirror that this system already uses, whose key it already has.
set -euo pipefail
cd "$(dirname "$0")/../.."

NEWER=trixie # the release of Debian whose files are taken where the system's are too old
GLSLC=2024    # the first glslc that knows cooperative matrices and integer dot products
LEAST=$(sed -n 's/^LEAST_HEADER = \([0-9]*\).*/\1/p' installers/native/backends.py)
HEADER=include/vulkan/vulkan_core.h
OWN="$PWD/.cache/vulkan"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
version() { sed -n 's/^#define VK_HEADER_VERSION \([0-9]*\).*/\1/p' "$1" 2>/dev/null || true; }

as_root apt-get update -q
as_root apt-get install -y -q --no-install-recommends \
    g++ glslc libvulkan-dev spirv-headers libvulkan1 mesa-vulkan-drivers

newer=()
found=$(version "/usr/$HEADER")
if [ "${found:-0}" -lt "$LEAST" ] && [ "$(version "$OWN/$HEADER")" = "" ]; then
    echo "The system's Vulkan headers are of version ${found:-0}; at least $LEAST is needed."
    newer+=(libvulkan-dev)
fi
year=$(glslc --version | sed -n 's/^shaderc v\{0,1\}\([0-9]*\).*/\1/p')
if [ "${1:-}" != --tools ] && [ "${year:-0}" -lt "$GLSLC" ] && [ ! -x "$OWN/bin/glslc" ]; then
    echo "The system's glslc is of ${year:-an unknown year}; one of $GLSLC makes faster shaders."
    newer+=(glslc libshaderc1 libstdc++6 libgcc-s1 libc6)
fi
if [ ${#newer[@]} -gt 0 ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    chmod 755 "$scratch"
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian' | sort -u | head -n 1)
    [ -n "$mirror" ] || { echo "No mirror of Debian among this system's package sources." >&2; exit 1; }
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keys] $mirror $NEWER main" > "$scratch/sources.list"
    mkdir -p "$scratch/lists/partial" "$scratch/archives/partial"
    # Lists and files of its own: nothing of the system's is read or changed.
    apart=(-q -o "Dir::State::lists=$scratch/lists" -o "Dir::Cache=$scratch"
        -o "Dir::Etc::sourcelist=$scratch/sources.list" -o "Dir::Etc::sourceparts=-"
        -o "Dir::Etc::preferences=/dev/null" -o "Dir::Etc::preferencesparts=-"
        -o "APT::Sandbox::User=$(id -un)" -o "Acquire::Languages=none")
    apt-get "${apart[@]}" update
    (cd "$scratch" && apt-get "${apart[@]}" download "${newer[@]/%//$NEWER}")
    for package in "$scratch"/*.deb; do dpkg -x "$package" "$scratch/unpacked"; done
    mkdir -p "$OWN/bin"
    if [ -d "$scratch/unpacked/usr/include/vulkan" ]; then
        rm -rf "$OWN/include"
        mv "$scratch/unpacked/usr/include" "$OWN/include"
        echo "Vulkan headers of version $(version "$OWN/$HEADER") are in $OWN."
    fi
    if [ -x "$scratch/unpacked/usr/bin/glslc" ]; then
        rm -rf "$OWN/glslc"
        mv "$scratch/unpacked/usr" "$OWN/glslc"
        # It wants a newer C library, too, which its own loader finds beside itself.
        loader=$(find "$OWN/glslc/lib" -name 'ld-linux*.so.*' | head -n 1)
        printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' \
            "$loader" "$(dirname "$loader")" "$OWN/glslc/bin/glslc" > "$OWN/bin/glslc.new"
        chmod 755 "$OWN/bin/glslc.new"
        "$OWN/bin/glslc.new" --version | head -n 1
        mv "$OWN/bin/glslc.new" "$OWN/bin/glslc"
    fi
fi

case "${1:-}" in --tools | --newer-tools) exit ;; esac
exec "${PYTHON:-python3}" run.py --backend vulkan "${@:---version}"
