# Hosts with RDMA inside the guest of scripts/rdma-vm. Sourced there, not run.
# shellcheck shell=bash
#
# Host i is an interface h<i> (10.0.0.i/24) with the Soft-RoCE device rd<i> on it, joined by its veth
# peer p<i> to the bridge br0 in a network namespace `sw` of its own. All hosts share the guest's
# network namespace, because rdma_rxe of this kernel receives in no other; policy routing sends
# their traffic over the wire. A source address must be bound, else Linux takes a short cut over lo.

readonly rdma_switch=sw

# rdma_hosts N [MTU]: makes the hosts; waits until each has its IPv4 GID, which comes late.
rdma_hosts() {
  local hosts=$1 mtu=${2:-4200} i j
  ip link set lo up
  ip netns add $rdma_switch
  ip -n $rdma_switch link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
  ip -n $rdma_switch link set br0 mtu "$mtu" up
  sysctl -qw net.ipv4.conf.{all,default}.{rp_filter=0,accept_local=1,arp_ignore=1,arp_announce=2} \
    net.ipv6.conf.{all,default}.accept_dad=0
  for ((i = 1; i <= hosts; i++)); do
    rdma_link "$i" "$mtu"
  done
  ip rule add pref 100 lookup local
  ip rule del pref 0
  for ((i = 1; i <= hosts; i++)); do
    for ((j = 1; j <= hosts; j++)); do
      [[ $i == "$j" ]] ||
        ip neigh replace "10.0.0.$j" lladdr "$(rdma_mac "$j")" dev "h$i" nud permanent
    done
  done
  for ((i = 1; i <= hosts; i++)); do
    rdma link add "rd$i" type rxe netdev "h$i"
  done
  for ((i = 1; i <= hosts; i++)); do
    rdma_wait_for_gid "rd$i"
  done
}

rdma_mac() { printf '02:00:00:00:00:%02x' "$1"; }

# rdma_link I MTU: the interface of one host and its way to the bridge.
rdma_link() {
  local i=$1 mtu=$2
  ip link add "h$i" mtu "$mtu" address "$(rdma_mac "$i")" type veth \
    peer name "p$i" mtu "$mtu" netns $rdma_switch
  ip -n $rdma_switch link set "p$i" master br0 up
  sysctl -qw "net.ipv4.conf.h$i.rp_filter=0" "net.ipv4.conf.h$i.accept_local=1" \
    "net.ipv4.conf.h$i.arp_ignore=1" "net.ipv4.conf.h$i.arp_announce=2"
  ip link set "h$i" up
  ip address add "10.0.0.$i/24" dev "h$i"
  ip route add local "10.0.0.$i" dev "h$i" table $((100 + i))
  ip route add 10.0.0.0/24 dev "h$i" src "10.0.0.$i" table $((100 + i))
  ip rule add pref $((10 + i)) iif lo from "10.0.0.$i" lookup $((100 + i))
}

rdma_wait_for_gid() {
  local device=$1 try
  for ((try = 0; try < 100; try++)); do
    grep -qs 'ffff:0a00:' "/sys/class/infiniband/$device/ports/1/gids/1" && return
    sleep 0.1
  done
  echo "rdma-guest: $device got no IPv4 GID within 10 s" >&2
  return 1
}


# rdma_tc ARGUMENT…: tc on the switch, for example qdisc replace dev p2 root netem loss 1%
rdma_tc() { ip netns exec $rdma_switch tc "$@"; }
# rdma_port I up|down: the switch's port of host I.
rdma_port() { ip -n $rdma_switch link set "p$1" "$2"; }
