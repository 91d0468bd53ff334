# What the scripts say on a terminal. Sourced, not run.
# shellcheck shell=bash

if [[ -t 1 ]]; then
  bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
else
  bold='' red='' plain=''
fi

# A step begins: "== build dev (12:01:07)".
step() { printf '%s== %s (%(%H:%M:%S)T)%s\n' "$bold" "$*" -1 "$plain"; }
# A line about the step.
say() { printf '   %s\n' "$*"; }
# Ends the script with what is wrong and what would be right.
fail() {
  printf '%serror: %s%s\n' "$red" "$*" "$plain" >&2
  exit 1
}
