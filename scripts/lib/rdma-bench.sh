#!/usr/bin/env bash
# rdma-bench.sh write-bw|send-lat|polling ROUNDS BENCH-FOLDER: ours and perftest in turn, inside the guest of
# scripts/rdma-vm run --icount; one line a round, "round OURS PEER" in MiB/s or µs. polling: the latency of
# ours alone, completions polled beside completions by events.
#
# There is one processor, in virtual time, so that figures come out alike however busy this machine is.
# Both yield to the kernel's own work on it: latency waits for events, and bandwidth (where perftest can
# only poll) has the lowest priority.
set -uo pipefail
what=$1 rounds=$2
cp "$3/rdma_pair" /usr/bin/ib_write_bw /usr/bin/ib_send_lat /tmp/ || exit 1
cd /tmp || exit 1

ours() {
  rm -rf /tmp/exchange && mkdir /tmp/exchange
  timeout 60 nice -n 19 ./rdma_pair "$what" 1 /tmp/exchange "$@" >&2 &
  timeout 60 nice -n 19 ./rdma_pair "$what" 0 /tmp/exchange "$@"
  wait $!
}

# peer PROGRAM FIELD BYTES COUNT: perftest's client on rd1 against its server on rd2.
peer() {
  local -a options=(-x 1 -s "$3" -n "$4" -F)
  [[ $1 == ib_write_bw ]] || options+=(--events)
  timeout 60 nice -n 19 "./$1" -d rd2 "${options[@]}" >/tmp/server.log 2>&1 &
  local server=$! try
  for ((try = 0; try < 1000; try++)); do
    ss -ltn | grep -q ':18515 ' && break
    sleep 0.05
  done
  timeout 60 nice -n 19 "./$1" -d rd1 "${options[@]}" 10.0.0.2 | awk -v field="$2" -v bytes="$3" '$1 == bytes {print $field}'
  wait $server
}

for ((round = 1; round <= rounds; round++)); do
  case $what in
    write-bw) echo "round $(ours 1048576 100) $(peer ib_write_bw 4 1048576 100)" ;;
    polling) echo "round $(what=send-lat ours 8 1000 poll) $(what=send-lat ours 8 1000)" ;;
    send-lat) echo "round $(ours 8 1000) $(peer ib_send_lat 5 8 1000)" ;;
  esac
done
