#!/usr/bin/env bash
# Runs the tests of `npm run test:kube` on a real node, which it starts and ends: test/kube/node/run.sh [files and options]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export NODE_DIR=${NODE_DIR:-/tmp/binnacle-node}
trap '"$here/down.sh"' EXIT
"$here/up.sh"
# The node reaches no registry. These stand in for the images that the tests name: most of them write a line and serve a
# page at port 80 until they are ended.
work=$(mktemp -d)
mkdir -p "$work/root/bin" "$work/root/www"
cp "$(command -v busybox)" "$work/root/bin/busybox"
echo here >"$work/root/www/index.html"
for name in sh sleep httpd true; do ln -s busybox "$work/root/bin/$name"; done
image() { # name, and the command of its entrypoint
  "$here/image.sh" "docker.io/library/$1" "$work/root" "$work/image.tar" \
    "{\"Entrypoint\": [\"/bin/sh\", \"-c\", \"$2\"], \"Env\": [\"PATH=/bin\"], \"User\": \"65532:65532\"}"
  ctr -a "$NODE_DIR/containerd.sock" -n k8s.io images import "$work/image.tar" >/dev/null
}
for name in nginx:1 nginx:1.29 nginx:1.30 tiny:1 tiny:2 api:1 db:1 side:1 pg:2 theirs:1; do
  image "$name" 'trap exit TERM; echo ready; httpd -f -p 80 -h /www & wait'
done
for name in done:1 app:1; do image "$name" 'exit 0'; done
# A sidecar shares its pod's ports.
image envoy:1 'trap exit TERM; sleep infinity & wait'
image crash:1 'echo it breaks >&2; exit 3'
rm -rf "$work"
cd "$here/../../.."
BINNACLE_TEST_KUBECONFIG="$NODE_DIR/kubeconfig" npm run test:kube -- "$@"
