#!/usr/bin/env bash
# Get what a Vulkan build of llama.cpp needs on Debian, Ubuntu or a kin of theirs, and build it.
#
#   bash installers/vulkan/build.sh [--tools]
#
# With --tools it gets them and builds nothing: installers/native/build.py does.
#
# Installs system packages (as root, or through sudo). Vulkan headers older than llama.cpp asks for,
# as in Debian 12, are not replaced: newer ones are unpacked into .cache/vulkan, for this build
# alone. They come from the package mirror that this system already uses, whose key it already has.
set -euo pipefail
cd "$(dirname "$0")/../.."

NEWER=trixie # the release of Debian whose headers are taken where the system's are too old
LEAST=$(sed -n 's/^LEAST_HEADER = \([0-9]*\).*/\1/p' installers/native/backends.py)
HEADER=include/vulkan/vulkan_core.h
OWN="$PWD/.cache/vulkan"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
version() { sed -n 's/^#define VK_HEADER_VERSION \([0-9]*\).*/\1/p' "$1" 2>/dev/null || true; }

as_root apt-get update -q
as_root apt-get install -y -q --no-install-recommends \
    g++ glslc libvulkan-dev spirv-headers libvulkan1 mesa-vulkan-drivers

found=$(version "/usr/$HEADER")
if [ "${found:-0}" -lt "$LEAST" ] && [ "$(version "$OWN/$HEADER")" = "" ]; then
    echo "The system's Vulkan headers are of version ${found:-0}; at least $LEAST is needed."
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
    (cd "$scratch" && apt-get "${apart[@]}" download "libvulkan-dev/$NEWER")
    dpkg -x "$scratch"/libvulkan-dev_*.deb "$scratch/unpacked"
    mkdir -p "$OWN"
    rm -rf "$OWN/include"
    mv "$scratch/unpacked/usr/include" "$OWN/include"
    echo "Vulkan headers of version $(version "$OWN/$HEADER") are in $OWN."
fi

[ "${1:-}" = --tools ] && exit
exec "${PYTHON:-python3}" run.py --backend vulkan "${@:---version}"
