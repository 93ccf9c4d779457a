#!/usr/bin/env bash
# Builds the programs of a Kubernetes cluster for the tests, only those that are missing, from the Go module proxy.
#   test/kube/build.sh                 the cluster
#   test/kube/build.sh helm tofu       others of the programs below, by name
#   test/kube/build.sh node            those that a real node needs beside them
#   test/kube/build.sh crane regctl helm3                  clients of registries, for the tests of the images
#   test/kube/build.sh helm-linux-amd64 helm-linux-arm64   Helm as the image of the operator has it
# Takes Go 1.26 or later, about 12 minutes of two cores the first time, and 6 GB of the user's cache folder.
set -euo pipefail

. "$(dirname "$0")/go.sh"

kubernetes=v1.37.1
versioned=
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  versioned+=" -X $package.gitVersion=$kubernetes -X $package.gitMajor=1 -X $package.gitMinor=37"
done

# The module, version and package of a program, the version of the modules beside it, and linker flags.
source_of() {
  case $1 in
    kube-apiserver | kube-controller-manager | kube-scheduler | kubectl | kubelet | kube-proxy)
      echo "k8s.io/kubernetes $kubernetes k8s.io/kubernetes/cmd/$1 v0.${kubernetes#v1.} $versioned" ;;
    etcd) echo "go.etcd.io/etcd/server/v3 v3.7.3 go.etcd.io/etcd/server/v3 v3.7.3" ;;
    kwok) echo "sigs.k8s.io/kwok v0.8.0 sigs.k8s.io/kwok/cmd/kwok v0.8.0" ;;
    metrics-server) echo "sigs.k8s.io/metrics-server v0.9.0 sigs.k8s.io/metrics-server/cmd/metrics-server v0.9.0" ;;
    helm | helm-linux-amd64 | helm-linux-arm64) echo "helm.sh/helm/v4 v4.3.1 helm.sh/helm/v4/cmd/helm v4.3.1 -X helm.sh/helm/v4/internal/version.version=v4.3.1" ;;
    tofu) echo "github.com/opentofu/opentofu v1.12.6 github.com/opentofu/opentofu/cmd/tofu v1.12.6 -X github.com/opentofu/opentofu/version.dev=no" ;;
    # Clients of registries, which pull the images in `npm run test:images`.
    helm3) echo "helm.sh/helm/v3 v3.22.0 helm.sh/helm/v3/cmd/helm v3.22.0 -X helm.sh/helm/v3/internal/version.version=v3.22.0" ;;
    crane) echo "github.com/google/go-containerregistry v0.22.1 github.com/google/go-containerregistry/cmd/crane v0.22.1" ;;
    regctl) echo "github.com/regclient/regclient v0.11.7 github.com/regclient/regclient/cmd/regctl v0.11.7" ;;
    coredns) echo "github.com/coredns/coredns v1.15.0 . v1.15.0" ;;
    *) echo "build.sh knows no program $1" >&2; return 2 ;;
  esac
}

# What the proxy says about a module: the path of its go.mod or of its folder.
fetched() {
  (cd / && go mod download -json "$1") | sed -n "s/^.*\"$2\": \"\(.*\)\",\$/\1/p"
}

# `go install module@version` is refused for a module with replace lines. A module of our own that requires it may
# restate them: a path beside it becomes the module published from there, all others stay as they are.
write_wrapper() {
  local module=$1 version=$2 beside=$3 gomod
  gomod=$(fetched "$module@$version" GoMod)
  {
    echo "module wrapper"
    awk '/^go / || /^godebug [^(]/; /^godebug \(/, /^\)/' "$gomod"
    echo "require $module $version"
    awk -v beside="$beside" '
      /=>/ && !/^[ \t]*\/\// {
        sub(/^replace /, ""); sub(/^[ \t]+/, ""); split($0, side, " => "); split(side[1], name, " ")
        if (side[2] ~ /^\.\.?\//) print "replace " name[1] " => " name[1] " " beside; else print "replace " $0
      }' "$gomod"
  } >go.mod
  cp "$(fetched "$module@$version" Dir)/go.sum" go.sum
}

# CoreDNS with the plugins that a cluster needs. All of them would bring the libraries of every cloud along.
write_coredns() {
  cat >main.go <<'GO'
package main

import (
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"

	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
GO
}

# What ships is compiled with all optimizations and by one version of Go, so that it has the same bytes on every machine;
# scripts/images/pins.ts holds their digests.
for_images() {
  export GOOS=linux GOARCH=$1 GOAMD64=v1 GOARM64=v8.0 GOTOOLCHAIN=go1.26.8 GOFLAGS="-buildvcs=false -modcacherw"
}

build() (
  local program=$1 from module version package beside flags
  from=$(source_of "$program")
  read -r module version package beside flags <<<"$from"
  [ ! -x "$bin/$program" ] || return 0
  command -v go >/dev/null || { echo "Go is needed to build $program; it is not installed." >&2; exit 1; }
  # The tests use the Helm that ships.
  if [ "$program-$(uname -s)" = helm-Linux ]; then
    build "helm-linux-$(go env GOHOSTARCH)" && ln -s "helm-linux-$(go env GOHOSTARCH)" "$bin/helm"
    return
  fi
  echo "building $program $version" >&2
  case $program in helm-linux-*) flags+=" -buildid=" && for_images "${program##*-}" ;; esac
  mkdir -p "$bin" "$kube/src/$program"
  cd "$kube/src/$program"
  write_wrapper "$module" "$version" "$beside"
  [ "$program" != coredns ] || write_coredns
  # Under its name only when it is whole, because what is there is never built again.
  go build -mod=mod -trimpath -ldflags "-s -w ${flags:-}" -o "$bin/.$program" "$package"
  mv "$bin/.$program" "$bin/$program"
)

[ $# -gt 0 ] || set -- etcd kube-apiserver kube-controller-manager kube-scheduler kwok metrics-server
[ "$*" != node ] || set -- kubectl kubelet kube-proxy coredns
for program in "$@"; do build "$program"; done
