#!/bin/sh
# Installs Hearth for one user, without root: run it from the unpacked folder. Run again, it
# installs over what is there. What it has put where stands in the list "installed".
# Options: --uninstall removes Hearth again; chats, settings and models stay.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
data=${XDG_DATA_HOME:-$HOME/.local/share}
opt=${HEARTH_PREFIX:-$HOME/.local/opt/hearth}
bin=$HOME/.local/bin
list=$opt/installed

say() { printf '%s\n' "$*"; }
fail() { say "$*" >&2; exit 1; }

case $opt in
  *[\"\$\`\\%\|\&]*) fail "Hearth cannot be in $opt: menus cannot name such a folder." ;;
  /*/*) ;;
  *) fail "HEARTH_PREFIX has to be a whole path of a folder for Hearth alone; it is “$opt”." ;;
esac

refresh() {
  if command -v update-desktop-database >/dev/null; then
    update-desktop-database -q "$data/applications" || true
  fi
  if command -v update-mime-database >/dev/null && [ -d "$data/mime/packages" ]; then
    update-mime-database "$data/mime" || true
  fi
  if command -v gtk-update-icon-cache >/dev/null && [ -f "$data/icons/hicolor/index.theme" ]; then
    gtk-update-icon-cache -q -t "$data/icons/hicolor" || true
  fi
}

# Removes what the list names, and the program's own folder: nothing else is Hearth's.
remove() {
  [ -f "$list" ] || return 0
  while IFS= read -r path; do
    case $path in
      "$data"/*|"$bin"/*) rm -f -- "$path" ;;
    esac
  done < "$list"
  rm -rf -- "$opt/program" "$opt/uninstall" "$list"
  rmdir -- "$opt" 2>/dev/null || true
}

if [ "${1:-}" = --uninstall ]; then
  [ -f "$list" ] || fail "Hearth is not installed in $opt."
  remove
  refresh
  say "Hearth is removed. Chats, settings and models are still in $data/hearth."
  exit 0
fi
[ $# -eq 0 ] || fail "Usage: $0 [--uninstall]"
[ -x "$here/program/hearth" ] || fail "Run install.sh from the folder that Hearth was unpacked to."
[ "$here" != "$opt" ] || fail "Unpack Hearth to another folder than $opt, where it is going to be."

# The new program is whole before it takes the place of the old one.
mkdir -p -- "$opt" "$bin" "$data"
rm -rf -- "$opt/program.new"
cp -R -- "$here/program" "$opt/program.new" || {
  rm -rf -- "$opt/program.new"
  fail "Hearth could not be copied to $opt. Is there room on that disk?"
}
cp -- "$here/install.sh" "$opt/install.new"
mv -- "$opt/program.new" "$opt/.program.next"
mv -- "$opt/install.new" "$opt/.uninstall.next"
remove
mkdir -p -- "$opt"
mv -- "$opt/.program.next" "$opt/program"
mv -- "$opt/.uninstall.next" "$opt/uninstall"

: > "$list"
if [ -e "$bin/hearth" ] && [ ! -L "$bin/hearth" ]; then
  say "$bin/hearth is a file of yours and stays: start Hearth as $opt/program/hearth."
else
  ln -sf -- "$opt/program/hearth" "$bin/hearth"
  say "$bin/hearth" >> "$list"
fi
(cd -- "$here/share" && find . -type f | sort) | while IFS= read -r name; do
  name=${name#./}
  mkdir -p -- "$data/$(dirname -- "$name")"
  case $name in
    *.desktop) sed "s|^Exec=hearth|Exec=\"$opt/program/hearth\"|" "$here/share/$name" > "$data/$name" ;;
    *) cp -- "$here/share/$name" "$data/$name" ;;
  esac
  say "$data/$name" >> "$list"
done
refresh
say "Hearth is installed in $opt, and starts from the menu or as $bin/hearth."
case :$PATH: in
  *:"$bin":*) ;;
  *) say "To start it as “hearth” in terminals, add $bin to your PATH." ;;
esac
say "To remove it again: sh $opt/uninstall --uninstall"
