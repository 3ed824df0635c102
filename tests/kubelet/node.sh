#!/bin/bash
# Process 1 of a node, in namespaces of its own: node.sh NAME FOLDER ADDRESS KUBERNETES CONTAINERD RUNC IMAGES...
# FOLDER has what nodes.py wrote for it; the next three are folders of programs; IMAGES are folders of archives.
set -eu
name=$1 folder=$2 address=$3 kubernetes=$4 containerd=$5 runc=$6
shift 6
hostname "$name"

# What a node writes is its own: containers and volumes lie in its folder, the rest in memory.
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
for mine in lib/containerd lib/kubelet lib/cni log; do
  mkdir -p "$folder/var/$mine" "/var/$mine"
  mount --bind "$folder/var/$mine" "/var/$mine"
done

# A /sys of this network, and in it the cgroups below the node's own: the namespace of cgroups began there.
version=1
[ ! -f /sys/fs/cgroup/cgroup.controllers ] || version=2
mounted=$(cd /sys/fs/cgroup && echo *)
mount -t sysfs sysfs /sys
if [ "$version" = 2 ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  # Only groups without processes may pass controllers on, and this shell is the only one here.
  mkdir /sys/fs/cgroup/node
  echo $$ > /sys/fs/cgroup/node/cgroup.procs
  tr ' ' '\n' < /sys/fs/cgroup/cgroup.controllers | while read -r controller; do echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control; done
else
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for group in $mounted; do
    mkdir "/sys/fs/cgroup/$group"
    case $group in
      unified) mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified ;;
      systemd) mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd ;;
      *) mount -t cgroup -o "$group" cgroup "/sys/fs/cgroup/$group" ;;
    esac
  done
fi
mount --make-rshared /

# kubelet wants these values, and would set them for the whole machine.
(cd "$folder/sysctl" && find . -type f) | while read -r file; do mount --bind "$folder/sysctl/$file" "/proc/sys/$file"; done
echo 1 > /proc/sys/net/ipv4/ip_forward

# keep NAME COMMAND...: runs it again when it ends, unless FOLDER/NAME.stopped is there. Its own process id is in FOLDER/NAME.pid.
keep() (
  what=$1
  shift
  while true; do
    if [ ! -e "$folder/$what.stopped" ]; then
      "$@" >> "$folder/$what.log" 2>&1 &
      echo $! > "$folder/$what.pid"
      wait $! || true
    fi
    sleep 0.2
  done
)

PATH=$containerd:$runc:$PATH
export PATH
keep containerd containerd -c "$folder/containerd.toml" &
until ctr version >/dev/null 2>&1; do sleep 0.1; done
for images; do
  for archive in "$images"/*.tar; do
    # As images/README.md says for our own; the others have their names in a file.
    reference=$(cat "${archive%.tar}.name" 2>/dev/null || echo "localhost/binnacle/$(basename "$archive" .oci.tar):")
    ctr -n k8s.io images import --base-name "${reference%:*}" "$archive"
  done
done
# Without a control plane the kubelet runs static pods alone.
set --
if [ -f "$folder/kubelet.kubeconfig" ]; then
  keep kube-proxy "$kubernetes/kube-proxy" --config="$folder/kube-proxy.yaml" -v=2 &
  set -- --kubeconfig="$folder/kubelet.kubeconfig"
fi
keep kubelet "$kubernetes/kubelet" --config="$folder/kubelet.yaml" "$@" --hostname-override="$name" --node-ip="$address" -v=2 &
trap 'exit 0' TERM INT
# Orphans of containers come here.
while true; do wait -n || true; sleep 1; done
