# Messages for people, in one voice. Sourced by the other scripts, never run.
# shellcheck shell=bash

if [[ -t 1 ]]; then
  bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
else
  bold='' red='' plain=''
fi

# A line of news.
say() { printf '%s\n' "$*"; }

# The start of a step.
heading() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# The reason why we stop, as one sentence with what to do next.
die() {
  printf '%s%s%s\n' "$red" "$*" "$plain" >&2
  exit 1
}

# Runs a command as root.
as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}
