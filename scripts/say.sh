# Messages of the scripts. Sourced by them, never run.
# shellcheck shell=bash

if [[ -t 1 ]]; then
  bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
else
  bold='' red='' plain=''
fi

# Prints a line.
say() { printf '%s\n' "$*"; }

# Prints a heading.
heading() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# Stops with an error: one sentence that explains the reason and what to do.
die() {
  printf '%s%s%s\n' "$red" "$*" "$plain" >&2
  exit 1
}

# Runs a command as root.
as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}
