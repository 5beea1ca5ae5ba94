#!/usr/bin/env bash
# The Debian packages that helmdeck uses, with reasons.
#
#   scripts/packages.sh list     [GROUP...]   the packages and why
#   scripts/packages.sh missing  [GROUP...]   the names of packages that are not installed
#   scripts/packages.sh install  [GROUP...]   installs missing packages
#
# Groups: runtime (to run sessions), build (to compile), web (to build the page where there is no
# Node), test (tests and benchmarks only, with all toolsets), fresh (cargo xtask fresh only),
# corpus (cargo xtask effects only).
# Toolsets of packs, which sessions do not need: code (JavaScript and Python), documents (PDF and OCR),
# media (video and audio).
# Without a group: runtime and build. SKIP_PACKAGES=1 disables `install`.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/say.sh
source scripts/say.sh

list() {
  local group name reason
  while read -r group name reason; do
    if [[ " $* " == *" $group "* ]]; then printf '%s\t%s\n' "$name" "$reason"; fi
  done <<'PACKAGES'
runtime bubblewrap                 creates the sandboxes of sessions
runtime tigervnc-standalone-server the X server of a desktop session
runtime tigervnc-scraping-server   the live view of an attached display
runtime x11-xkb-utils              keyboard maps: the X server calls xkbcomp at start
runtime xkb-data                   keyboard layouts
runtime chromium                   the browser of every session
runtime xfwm4                      the window manager of a desktop session
runtime xfce4-panel                the panel of a desktop session
runtime dbus-daemon                the session bus that desktop programs expect
runtime at-spi2-core               the accessibility tree: what is under a pixel
runtime adwaita-icon-theme         icons and cursors
runtime fontconfig                 finds fonts
runtime fonts-dejavu-core          plain and fixed-width text
runtime fonts-liberation           the metrics web pages were designed for
runtime fonts-noto-cjk             Chinese, Japanese and Korean
runtime fonts-noto-color-emoji     emoji
runtime xterm                      the terminal of a desktop session
runtime ca-certificates            trusted certificates for https
runtime curl                       used by make up, and by the examples
runtime jq                         reads JSON in scripts and examples
runtime git                        repositories in a session
runtime openssh-client             git by SSH, with keys of the vault
runtime python3                    runs Python in sessions, scripts and examples
build   build-essential            C compiler, linker and make for crates with C parts
code    nodejs                     runs JavaScript: node.run
code    python3                    the same, for servers set up by hand
documents poppler-utils            reads PDF: doc.parse and doc.ocr
documents tesseract-ocr            recognizes the text of pictures: doc.ocr and doc.parse
documents tesseract-ocr-eng        its English data; other languages are tesseract-ocr-LANGUAGE
media   ffmpeg                     checks video and audio: av.validate
web     python3-venv               fetches Node for the web page if it is missing
test    xdotool                    reference for clicks and keys
test    scrot                      reference for screenshots
test    xclip                      a foreign clipboard owner
test    imagemagick                reference for zoom
test    python3-pip                a package manager inside a session
test    python3-venv               installs schemathesis outside the system
test    tigervnc-viewer            a third-party viewer
test    x11-utils                  sets an accessibility bus on a display
test    mousepad                   a GTK program to type into
test    python3-gi                 the GTK program of cargo xtask effects
test    gir1.2-gtk-3.0             its toolkit
test    nginx-light                a documented proxy in front of the server
test    caddy                      another documented proxy
test    openssl                    creates the certificate of the proxy tests
test    openbox                    another window manager
test    openssh-server             a git server by SSH
test    procps                     ps and kill, to check that no process is left
test    universal-ctags            the reference of repo.map: cargo xtask repo-map
fresh   debootstrap                creates the systems of cargo xtask fresh
fresh   debian-archive-keyring     the keys of its packages
corpus  libreoffice-writer         a large program, with text
corpus  libreoffice-calc           the same, with cells
corpus  libreoffice-gtk3           tells what is in its windows
corpus  python3-uno                asks it for the state of its document
PACKAGES
}

# Names of listed packages that are not installed. Needs neither network nor root.
missing() {
  local name reason installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
  while IFS=$'\t' read -r name reason; do
    grep -qxF -- "$name" <<<"$installed" || printf '%s\n' "$name"
  done < <(list "$@")
}

distribution() { (. /etc/os-release 2>/dev/null && printf '%s' "${ID:-unknown}") || printf 'unknown'; }

# Ubuntu ships Chromium as a snap, which cannot start inside another sandbox.
ubuntu_has_chromium() {
  local path
  path=$(command -v chromium) || return 1
  [[ $(readlink -f "$path") != */snap ]] && ! grep -qs '/snap/' "$path"
}

install() {
  local wanted=() names name reason
  [[ ${SKIP_PACKAGES:-} == 1 ]] && return 0
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    names=$(list "$@" | cut -f1 | tr '\n' ' ')
    die "Packages can only be installed on Debian 12 and 13, with apt. On this system, install the counterparts of ${names% } yourself, then run again with SKIP_PACKAGES=1."
  fi

  mapfile -t wanted < <(missing "$@")
  if [[ $(distribution) == ubuntu && " ${wanted[*]} " == *" chromium "* ]]; then
    ubuntu_has_chromium || die "On Ubuntu, helmdeck needs 'chromium' on the PATH as a .deb build, not a snap, and bubblewrap must be allowed to create user namespaces (sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for /usr/bin/bwrap that allows userns). Set up both, then run this again."
    mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | grep -vx chromium)
  fi
  [[ ${#wanted[@]} -eq 0 ]] && return 0

  say "Debian packages to install:"
  while IFS=$'\t' read -r name reason; do
    if [[ " ${wanted[*]} " == *" $name "* ]]; then printf '  %-28s %s\n' "$name" "$reason"; fi
  done < <(list "$@")
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null ||
      die "apt needs root and sudo is not installed; as root, run: apt-get update && apt-get install --no-install-recommends ${wanted[*]}"
    say "apt needs root, so sudo may ask for your password."
  fi
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  as_root "${apt[@]}" update || say "The package lists could not be refreshed; continuing with the existing ones."
  # Server packages start their servers; here only the tests may start them.
  local policy=/usr/sbin/policy-rc.d
  if [[ " $* " == *" test "* && ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  as_root "${apt[@]}" install -y --no-install-recommends "${wanted[@]}"
}

command=${1:-}
shift || true
[[ $# -eq 0 ]] && set -- runtime build
# Tests run every pack.
[[ " $* " == *" test "* ]] && set -- "$@" code documents media
for group in "$@"; do
  [[ $group =~ ^(runtime|build|web|test|fresh|corpus|code|documents|media)$ ]] || die "There is no package group '$group'; the groups are runtime, build, web, test, fresh, corpus, code, documents and media."
done
case $command in
  list | missing | install) "$command" "$@" ;;
  *) die "Usage: scripts/packages.sh list|missing|install [runtime] [build] [web] [test] [fresh] [corpus] [code] [documents] [media]" ;;
esac
