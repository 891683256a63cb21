#!/usr/bin/env bash
# Sign an app for macOS, have Apple notarise it, and put it on a disk image:
#
#     bash make_dmg.sh APP IMAGE
#
# What it is told by variables, all of them optional:
#   HEARTH_IDENTITY         the certificate, “Developer ID Application: NAME (TEAM)”, in the keychain
#   HEARTH_NOTARY_PROFILE   a profile that “xcrun notarytool store-credentials” has kept
#   HEARTH_NOTARY_KEYCHAIN  the keychain that it was kept in, if that is not the usual one
# Without an identity the app is signed for nobody (ad hoc): it runs on the Mac that made it, and
# elsewhere once its user has allowed it in the system's settings.
set -euo pipefail

app=$1
image=$2
here=$(cd "$(dirname "$0")" && pwd)
identity=${HEARTH_IDENTITY:--}
profile=${HEARTH_NOTARY_PROFILE:-}
asking=(--keychain-profile "$profile")
[ -z "${HEARTH_NOTARY_KEYCHAIN:-}" ] || asking+=(--keychain "$HEARTH_NOTARY_KEYCHAIN")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sign() {
    if [ "$identity" = - ]; then
        codesign --force --sign - "$@"
    else
        codesign --force --sign "$identity" --timestamp --options runtime "$@"
    fi
}

notarise() {
    # It waits for Apple's answer, and prints the log where that is a refusal.
    if ! xcrun notarytool submit "$1" "${asking[@]}" --wait \
        --output-format plist > "$work/answer.plist"; then
        cat "$work/answer.plist" >&2
        return 1
    fi
    if [ "$(plutil -extract status raw "$work/answer.plist")" != Accepted ]; then
        xcrun notarytool log "$(plutil -extract id raw "$work/answer.plist")" "${asking[@]}" >&2
        return 1
    fi
}

python3 "$here/oldest.py" "$app"

# From the inside outwards: the signature of each thing is part of what holds it. A framework is
# signed as one; whatever else has code in it by itself.
if [ "$identity" = - ]; then
    echo "No HEARTH_IDENTITY is set: the app is signed for nobody." >&2
fi
python3 "$here/oldest.py" --list "$app" > "$work/code"
while IFS= read -r file; do
    case $file in
        *.framework/*) ;;
        "$app/Contents/MacOS/"*) ;;
        *) sign "$file" ;;
    esac
done < "$work/code"
find "$app/Contents" -depth -type d -name '*.framework' | while IFS= read -r framework; do
    sign "$framework"
done
for program in "$app/Contents/MacOS/"*; do
    sign --entitlements "$here/entitlements.plist" "$program"
done
sign --entitlements "$here/entitlements.plist" "$app"
codesign --verify --deep --strict --verbose=2 "$app"

if [ "$identity" != - ] && [ -n "$profile" ]; then
    # First the app, so that it carries the ticket itself: the first start needs no network then.
    ditto -c -k --keepParent "$app" "$work/app.zip"
    notarise "$work/app.zip"
    xcrun stapler staple "$app"
    spctl --assess --type execute --verbose "$app"
else
    echo "No HEARTH_NOTARY_PROFILE is set: Apple was not asked." >&2
fi

mkdir "$work/image"
ditto "$app" "$work/image/$(basename "$app")"
ln -s /Applications "$work/image/Applications"
rm -f "$image"
hdiutil create -volname Hearth -srcfolder "$work/image" -fs HFS+ -format ULFO -quiet "$image"
if [ "$identity" != - ]; then
    codesign --force --sign "$identity" --timestamp "$image"
    if [ -n "$profile" ]; then
        notarise "$image"
        xcrun stapler staple "$image"
        spctl --assess --type open --context context:primary-signature --verbose "$image"
    fi
fi
echo "$image"
