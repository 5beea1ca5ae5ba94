# Ends a server and its sandboxes when the test that started them is gone and could not do it
# itself, because it was killed or took too long and its runner ended it.
#
# Standard input: the directory of the installation, then `done` when the test has cleaned up. If it
# ends without that, the test was killed.
read -r dir || exit 0
if read -r word && [[ $word == done ]]; then exit 0; fi
[[ $dir == /*/hd-* ]] || exit 1

# The servers of the installation that run; a process that has ended has no environment.
servers() {
  local process
  for process in /proc/[0-9]*; do
    if grep -qzxF -- "HELMDECK_DATA_DIR=$dir/data" "$process/environ" 2>/dev/null &&
      grep -qzx serve "$process/cmdline" 2>/dev/null; then
      printf '%s\n' "${process#/proc/}"
    fi
  done
}

# As Ctrl-C does it: with the sessions.
for pid in $(servers); do kill -INT "$pid" 2>/dev/null; done
for ((i = 0; i < 100; i++)); do
  [[ -n $(servers) ]] || break
  sleep 0.2
done
for pid in $(servers); do kill -KILL "$pid" 2>/dev/null; done

# What a server left that was killed before.
for process in /proc/[0-9]*; do
  if grep -qzF -- "$dir/run" "$process/cmdline" 2>/dev/null; then
    kill -KILL "${process#/proc/}" 2>/dev/null
  fi
done
rm -rf -- "$dir"
