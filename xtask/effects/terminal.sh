#!/usr/bin/env bash
# What an xterm of the corpus runs: terminal.sh KIND BESIDE LOG. It logs what it shows.
kind=$1 beside=$2 log=$3
say() { printf '%s\n' "$1" >>"$log"; }
tell() {
  printf 'done %s\n' "$SECONDS$RANDOM"
  say shown
}
trap 'say window_closed' EXIT

beside() {
  local turn
  case $beside in
    spinner) while true; do for turn in '|' / - "\\"; do
      printf '\0337\033[1;60H%s\0338' "$turn"
      sleep 0.1
    done; done ;;
    clock) while true; do
      printf '\0337\033[1;50H%(%H:%M:%S)T\0338'
      sleep 1
    done ;;
  esac
}
[[ $beside == spinner || $beside == clock ]] && { beside & }
printf '\033]0;Terminal\007'
[[ $beside == blink ]] && printf '\033[?12h'
printf 'kind %s\n' "$kind"
case $kind in
  # Keys are echoed by the terminal itself.
  cat) stty echo icanon && say ready && while IFS= read -r line; do
    printf 'read %s\n' "$line"
    say shown
  done ;;
  # Keys are read and not echoed.
  silent) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do say hidden; done ;;
  tells) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do tell; done ;;
  later) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do
    sleep 0.08
    tell
  done ;;
  title) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do
    printf '\033]0;Renamed\007'
    say title
  done ;;
  bell) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do
    printf '\007'
    say hidden
  done ;;
  clear) stty -echo && seq 12 && say ready && while IFS= read -rs -n1 -d '' _; do
    printf '\033[2J\033[H'
    say shown
  done ;;
  screen) stty -echo && seq 12 && say ready && while IFS= read -rs -n1 -d '' _; do
    printf '\033[?1049h'
    say shown
  done ;;
  colour) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do
    printf '\033[41m     \033[0m\n'
    say shown
  done ;;
  rewrites) stty -echo && printf 'same' && say ready && while IFS= read -rs -n1 -d '' _; do
    printf '\rsame'
    say hidden
  done ;;
  cursor) stty -echo && printf 'some words' && say ready && while IFS= read -rs -n1 -d '' _; do
    printf '\033[3D'
    say caret
  done ;;
  bar) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do
    for part in 1 2 3 4 5; do
      printf '#'
      sleep 0.05
    done
    say shown
  done ;;
  floods) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do
    seq 300
    say shown
  done ;;
  ends) stty -echo && say ready && IFS= read -rs -n1 -d '' _ ;;
  opens) stty -echo && say ready && while IFS= read -rs -n1 -d '' _; do
    xterm -geometry 30x8+700+400 -e sleep 600 &
    say "pid $!"
    say window_opened
  done ;;
  # The terminal reports when it loses and gets the keyboard.
  focus) stty -echo && printf '\033[?1004h' && say ready && while IFS= read -rs -n3 -d '' _; do say focus; done ;;
  # The terminal reports clicks.
  mouse) stty -echo && printf '\033[?1000h' && say ready && while IFS= read -rs -n6 -d '' _; do tell; done ;;
  mouse-silent) stty -echo && printf '\033[?1000h' && say ready && while IFS= read -rs -n6 -d '' _; do say hidden; done ;;
  lines) stty -echo && seq 200 && say ready && while IFS= read -rs -n1 -d '' _; do say hidden; done ;;
esac
