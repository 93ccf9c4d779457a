#!/usr/bin/env bash
# Installs the control plane by its chart on a real node, from its own images, and proves what it does there: test/install/run.sh [files and options]
#   BINNACLE_TEST_IMAGES   a folder that `npm run images` has written; without it the images are built
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export NODE_DIR=${NODE_DIR:-/tmp/binnacle-install-node}
export BINNACLE_TEST_IMAGES=${BINNACLE_TEST_IMAGES:-$NODE_DIR-images}
trap '"$root/test/kube/node/down.sh"; rm -rf "$NODE_DIR-images"' EXIT
cd "$root"
# The platform of the node is enough.
[ -e "$BINNACLE_TEST_IMAGES/server/index.json" ] || npm run images -- --output "$BINNACLE_TEST_IMAGES" --platform linux/amd64
test/kube/build.sh node
test/kube/node/up.sh
# What the apps of the tests run: it writes a line, and serves a page at port 8080, and one that takes some work, until it is ended.
work=$(mktemp -d)
mkdir -p "$work/root/bin" "$work/root/www/cgi-bin"
cp "$(command -v busybox)" "$work/root/bin/busybox"
for name in sh sleep httpd cat wget; do ln -s busybox "$work/root/bin/$name"; done
cat >"$work/root/www/cgi-bin/burn" <<'SH'
#!/bin/sh
i=0
while [ $i -lt 50000 ]; do i=$((i + 1)); done
printf 'Content-Type: text/plain\r\n\r\ndone\n'
SH
chmod 755 "$work/root/www/cgi-bin/burn"
page() { # tag, and what it says
  echo "$2" >"$work/root/www/index.html"
  "$root/test/kube/node/image.sh" "docker.io/library/page:$1" "$work/root" "$work/image.tar" \
    '{"Entrypoint": ["/bin/sh", "-c", "trap exit TERM; echo ready; httpd -f -p 8080 -h /www & wait"], "Env": ["PATH=/bin"], "User": "65532:65532"}'
  ctr -a "$NODE_DIR/containerd.sock" -n k8s.io images import "$work/image.tar" >/dev/null
}
page 1 here
page 2 there
rm -rf "$work"
# Clients of the control plane trust the authority that has signed its certificate.
NODE_EXTRA_CA_CERTS="$NODE_DIR/pki/ca.crt" npm exec -- vitest run --config vitest.install.config.ts "$@"
