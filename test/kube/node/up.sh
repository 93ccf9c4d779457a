#!/usr/bin/env bash
# Starts a Kubernetes of one real node on this machine: control plane, containerd, kubelet, kube-proxy, and CoreDNS and
# metrics-server where they have been built. Everything runs in namespaces of its own (mounts, network, processes), so
# that it ends as a whole: see down.sh. It writes $NODE_DIR/kubeconfig, for BINNACLE_TEST_KUBECONFIG.
#   NODE_BIN   the folder of the programs, which test/kube/build.sh and `test/kube/build.sh node` fill
#   NODE_DIR   the folder of the node; not below /run, /var/lib or /var/log, which the node replaces by its own
#   NODE_NET   the first half of its addresses: pods .0.0/24, services .1.0/24, this machine .2.1, the node .2.2
#   NODE_CNI   the folder of the CNI plugins
# It needs root, containerd, runc, the CNI plugins, iptables, openssl and a static busybox.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export NODE_BIN=${NODE_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/binnacle/kube/bin} NODE_DIR=$(realpath -m "${NODE_DIR:-/tmp/binnacle-node}")
export NODE_NET=${NODE_NET:-10.213} NODE_CNI=${NODE_CNI:-/usr/lib/cni}
dir=$NODE_DIR net=$NODE_NET host=$NODE_NET.2.1 node=$NODE_NET.2.2 link=bn${NODE_NET//./-}
kubectl() { "$NODE_BIN/kubectl" --kubeconfig "$dir/kubeconfig" "$@"; }
# Waits until a command succeeds, and gives up after a minute or when one of the programs has ended.
await() {
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -gt 60 ] || [ -s "$dir/log/ended" ]; then
      echo "The node does not start: $(cat "$dir/log/ended" 2>/dev/null || echo "waited for: $*"); see $dir/log" >&2; exit 1
    fi
    sleep 0.05
  done
}

# ---- inside: the first process of the node ------------------------------------------------------------------------------
if [ "${1:-}" = inside ]; then
  read -r pid _ </proc/self/stat   # as the machine counts: the new /proc is not mounted yet
  mount --make-rshared /   # what is mounted here stays here: unshare has cut the tie to the machine
  mount -t proc proc /proc && mount -t tmpfs tmpfs /run
  mount --bind "$dir/lib" /var/lib && mount --bind "$dir/log" /var/log
  mkdir -p /tmp/hostpath_pv && mount --bind "$dir/volumes" /tmp/hostpath_pv   # where the provisioner of host paths puts them
  # The kubelet would change these for the whole machine; it gets files to write in instead.
  for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
    cat "/proc/sys/$name" >"$dir/sysctl/${name//\//.}"
    mount --bind "$dir/sysctl/${name//\//.}" "/proc/sys/$name"
  done
  echo "$pid" >"$dir/pid"
  await ip link show eth0
  ip link set lo up && ip addr add "$node/30" dev eth0 && ip link set eth0 up && ip route add default via "$host"
  echo 1 >/proc/sys/net/ipv4/ip_forward
  start() { { "$@" >"$dir/log/${1##*/}.log" 2>&1 </dev/null || echo "${1##*/} ended with $?" >>"$dir/log/ended"; } & }
  own=(--kubeconfig="$dir/kubeconfig" --authentication-kubeconfig="$dir/kubeconfig" --authorization-kubeconfig="$dir/kubeconfig")
  eager=(--leader-elect=false --kube-api-qps=500 --kube-api-burst=1000)
  start containerd --config "$dir/containerd.toml"
  start "$NODE_BIN/etcd" --data-dir "$dir/etcd" --unsafe-no-fsync --log-level warn
  start "$NODE_BIN/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --advertise-address="$node" \
    --tls-cert-file="$dir/pki/apiserver.crt" --tls-private-key-file="$dir/pki/apiserver.key" --client-ca-file="$dir/pki/ca.crt" \
    --service-cluster-ip-range="$net.1.0/24" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$dir/pki/ca.pub" \
    --service-account-signing-key-file="$dir/pki/ca.key" \
    --kubelet-client-certificate="$dir/pki/admin.crt" --kubelet-client-key="$dir/pki/admin.key" --kubelet-preferred-address-types=InternalIP \
    --requestheader-client-ca-file="$dir/pki/front.crt" --requestheader-username-headers=X-Remote-User \
    --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$dir/pki/front.crt" --proxy-client-key-file="$dir/pki/front.key"
  await kubectl get --raw /readyz
  start "$NODE_BIN/kube-controller-manager" "${own[@]}" "${eager[@]}" --use-service-account-credentials \
    --service-account-private-key-file="$dir/pki/ca.key" --root-ca-file="$dir/pki/ca.crt" \
    --cluster-signing-cert-file="$dir/pki/ca.crt" --cluster-signing-key-file="$dir/pki/ca.key" --enable-hostpath-provisioner \
    --horizontal-pod-autoscaler-sync-period=5s
  start "$NODE_BIN/kube-scheduler" "${own[@]}" "${eager[@]}"
  start "$NODE_BIN/kubelet" --config="$dir/kubelet.yaml" --kubeconfig="$dir/kubelet.kubeconfig" --hostname-override=node-0 --node-ip="$node"
  start "$NODE_BIN/kube-proxy" --config="$dir/kube-proxy.yaml" --hostname-override=node-0
  [ ! -x "$NODE_BIN/coredns" ] || start "$NODE_BIN/coredns" -conf "$dir/Corefile"
  [ ! -x "$NODE_BIN/metrics-server" ] || start "$NODE_BIN/metrics-server" "${own[@]}" --secure-port=4443 \
    --cert-dir="$dir/pki/metrics" --kubelet-insecure-tls --kubelet-preferred-address-types=InternalIP --metric-resolution=10s --kubelet-request-timeout=5s
  # Bash takes care of what lost its parent meanwhile. Volumes of host paths belong to root, and the kubelet's fsGroup passes them by.
  while sleep 0.3; do chmod -f 777 "$dir"/volumes/* || true; done
fi

# ---- outside ------------------------------------------------------------------------------------------------------------
if [ -s "$dir/pid" ] && [ "$(readlink "/proc/$(cat "$dir/pid")/cwd")" = "$dir" ]; then echo "It runs: $dir"; exit 0; fi
"$here/down.sh"
mkdir -p "$dir"/{pki,lib,log,cni,volumes,sysctl,images,containerd,registries} && : >"$dir/.binnacle-node"
cd "$dir/pki"
key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
certificate() { # name subject usage [alternative names]
  openssl req "${key[@]}" -subj "$2" -keyout "$1.key" -out "$1.csr" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out "$1.crt" 2>/dev/null \
    -extfile <(echo "extendedKeyUsage=$3"; [ -z "${4:-}" ] || echo "subjectAltName=$4")
}
openssl req -x509 "${key[@]}" -days 3650 -subj /CN=ca -keyout ca.key -out ca.crt 2>/dev/null
openssl pkey -in ca.key -pubout -out ca.pub   # service accounts are signed with it too
openssl req -x509 "${key[@]}" -days 3650 -subj /CN=front -keyout front.key -out front.crt 2>/dev/null
certificate apiserver /CN=apiserver serverAuth "IP:$node,IP:127.0.0.1,IP:$net.1.1,DNS:kubernetes.default.svc,DNS:kubernetes.default,DNS:kubernetes"
certificate admin /O=system:masters/CN=admin clientAuth
certificate kubelet /O=system:nodes/CN=system:node:node-0 clientAuth
kubeconfig() { # certificate
  cat <<Y
apiVersion: v1
kind: Config
clusters: [{name: node, cluster: {server: "https://$node:6443", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: node, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: node, context: {cluster: node, user: node}}]
current-context: node
Y
}
cd "$dir"
(umask 077; cd pki; kubeconfig admin >../kubeconfig; kubeconfig kubelet >../kubelet.kubeconfig)

: >resolv.conf
cat >containerd.toml <<Y
version = 2
root = "$dir/containerd"
state = "/run/containerd"
[grpc]
address = "$dir/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/pause:0"
enable_unprivileged_ports = true
restrict_oom_score_adj = true   # below its own takes CAP_SYS_RESOURCE, which root on this machine may lack
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "$dir/registries"   # a folder for each registry that is not asked as usual
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "$NODE_CNI"
conf_dir = "$dir/cni"
Y
cat >cni/node.conflist <<Y
{"cniVersion": "0.4.0", "name": "node", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$net.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
Y
cat >kubelet.yaml <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$dir/containerd.sock
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$link
failSwapOn: false
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $dir/pki/ca.crt}}
authorization: {mode: Webhook}
clusterDNS: [$node]
clusterDomain: cluster.local
resolvConf: $dir/resolv.conf
# A full disk of the machine is not the node's business, and an image that is gone cannot be pulled again.
evictionHard: {memory.available: "0%", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%", imagefs.inodesFree: "0%", pid.available: "0%"}
imageGCHighThresholdPercent: 100
Y
cat >kube-proxy.yaml <<Y
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clientConnection: {kubeconfig: $dir/kubeconfig}
clusterCIDR: $net.0.0/24
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
Y
cat >Corefile <<Y
cluster.local in-addr.arpa {
  bind $node
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $dir/kubeconfig node
  }
}
Y
mkdir -p pause/bin && cp "$(command -v busybox)" pause/bin/busybox
"$here/image.sh" localhost/pause:0 pause images/pause.tar '{"Entrypoint": ["/bin/busybox", "sleep", "infinity"]}'

hierarchies=(/sys/fs/cgroup/*/)
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then   # version 2 has one for all, and its groups get those that it passes on
  hierarchies=(/sys/fs/cgroup/)
  for name in $(cat /sys/fs/cgroup/cgroup.controllers); do echo "+$name" >/sys/fs/cgroup/cgroup.subtree_control || true; done
fi
for hierarchy in "${hierarchies[@]}"; do   # the kubelet takes no root that is not there
  mkdir -p "$hierarchy$link"
  # Under v1 a new group may use no processor and no memory until it is told which.
  for file in cpuset.cpus cpuset.mems; do [ ! -e "$hierarchy$file" ] || cat "$hierarchy$file" >"$hierarchy$link/$file"; done
done
setsid unshare --mount --net --pid --ipc --fork --kill-child "$here/up.sh" inside >log/inside.log 2>&1 </dev/null &
await test -s pid
ip link add "$link" type veth peer name eth0 netns "$(cat pid)"
ip addr add "$host/30" dev "$link" && ip link set "$link" up
ip route add "$net.0.0/23" via "$node"   # pods and services, from the machine too

await test -S containerd.sock
await ctr -a containerd.sock -n k8s.io images import images/pause.tar
await kubectl get node/node-0 serviceaccount/default
kubectl apply --server-side -f - >/dev/null <<Y
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/host-path
Y
# An API that nobody serves would keep namespaces from going.
[ ! -x "$NODE_BIN/metrics-server" ] || kubectl apply --server-side -f - >/dev/null <<Y
apiVersion: v1
kind: Service
metadata: {name: metrics-server, namespace: kube-system}
spec: {ports: [{port: 443, targetPort: 4443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: metrics-server, namespace: kube-system, labels: {kubernetes.io/service-name: metrics-server}}
addressType: IPv4
endpoints: [{addresses: [$node]}]
ports: [{port: 4443}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  {group: metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
   service: {name: metrics-server, namespace: kube-system}}
Y
kubectl wait --for=condition=Ready node/node-0 --timeout=60s >/dev/null
echo "Up after $SECONDS s: KUBECONFIG=$dir/kubeconfig; images: ctr -a $dir/containerd.sock -n k8s.io images import <file>"
