#!/usr/bin/env bash
# Runs the tests of `npm run test:kube` on a real node, which it starts and ends: test/kube/node/run.sh [files and options]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export NODE_DIR=${NODE_DIR:-/tmp/binnacle-node}
trap '"$here/down.sh"' EXIT
"$here/up.sh"
# No registry is reached from the node. These stand in for the images that the tests name: they run until they are ended.
work=$(mktemp -d)
mkdir -p "$work/root/bin" "$work/root/etc"
cp "$(command -v busybox)" "$work/root/bin/busybox"
for name in sh sleep echo true false; do ln -s busybox "$work/root/bin/$name"; done
for name in nginx:1 nginx:1.29 nginx:1.30 tiny:1 api:1 db:1 side:1 pg:2 theirs:1; do
  "$here/image.sh" "docker.io/library/$name" "$work/root" "$work/image.tar" \
    '{"Entrypoint": ["/bin/sh", "-c", "trap exit TERM; while :; do sleep 1 & wait $!; done"], "Env": ["PATH=/bin"]}'
  ctr -a "$NODE_DIR/containerd.sock" -n k8s.io images import "$work/image.tar" >/dev/null
done
rm -rf "$work"
cd "$here/../../.."
BINNACLE_TEST_KUBECONFIG="$NODE_DIR/kubeconfig" npm run test:kube -- "$@"
