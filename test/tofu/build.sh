#!/usr/bin/env bash
# Builds OpenTofu and a small terraform-provider-aws for the tests from the Go module proxy, and installs moto, a server with
# the APIs of AWS, from PyPI; only what is missing. On Debian also what checks the scripts of machines.
#   test/tofu/build.sh            all of them
#   test/tofu/build.sh tofu       one of tofu, provider, moto and checks
# Takes Go 1.26.6 or later, about 8 minutes of two cores the first time, and 3 GB of the user's cache folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../kube/go.sh"

# Its releases after 1.60 have no place in the module proxy, which has them by their commits. This one is 6.47.1.
module=github.com/hashicorp/terraform-provider-aws
version=v1.60.1-0.20260602190131-5f2286d6d836
release=6.47.1
# The services of deploy/tofu/aws-k3s, and those that the provider asks for the identity and the region.
services=(ec2 iam meta sts)

build_provider() {
  local program=terraform-provider-aws source=$kube/src/terraform-provider-aws from
  [ ! -x "$bin/$program" ] || return 0
  command -v go >/dev/null || { echo "Go is needed to build $program; it is not installed." >&2; exit 1; }
  echo "building $program $release with ${services[*]}" >&2
  from=$(cd / && go mod download -json "$module@$version" | sed -n 's/^.*"Dir": "\(.*\)",$/\1/p')
  rm -rf "$source"
  mkdir -p "$bin" "$source"
  tar cf - -C "$from" --exclude='*_test.go' --exclude=./website --exclude=testdata . | tar xf - -C "$source" --mode=u+w
  # All services would take two hours and 60 GB.
  go run "$here/trim.go" "$source" "$module" "${services[@]}"
  # Under its name only when it is whole, because what is there is never built again.
  (cd "$source" && go build -trimpath -ldflags "-s -w -X $module/version.ProviderVersion=$release" -o "$bin/.$program" .)
  mv "$bin/.$program" "$bin/$program"
  rm -rf "$source"
}

build_moto() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/binnacle/moto
  [ ! -x "$folder/bin/moto_server" ] || return 0
  ! command -v moto_server >/dev/null || return 0
  echo "installing moto" >&2
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "moto[server]==5.2.1"
}

# The schema of cloud-init and shellcheck, taken out of Debian's packages without installing these.
build_checks() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/binnacle/cloud-init work
  [ ! -e "$folder/schema.json" ] || return 0
  command -v apt-get >/dev/null || { echo "There is no apt-get: user data is not compared with the schema of cloud-init." >&2; return 0; }
  work=$(mktemp -d)
  (
    cd "$work"
    apt-get download -qq cloud-init shellcheck || { apt-get update -qq; apt-get download -qq cloud-init shellcheck; }
    for package in *.deb; do dpkg-deb -x "$package" .; done
  ) >/dev/null 2>&1
  mkdir -p "$bin" "$folder"
  install "$work/usr/bin/shellcheck" "$bin/shellcheck"
  install -m 644 "$work/usr/lib/python3/dist-packages/cloudinit/config/schemas/schema-cloud-config-v1.json" "$folder/schema.json"
  rm -rf "$work"
}

[ $# -gt 0 ] || set -- tofu provider moto checks
for program in "$@"; do
  case $program in
    tofu) "$here/../kube/build.sh" tofu ;;
    provider) build_provider ;;
    moto) build_moto ;;
    checks) build_checks ;;
    *) echo "build.sh knows no program $program" >&2; exit 2 ;;
  esac
done
