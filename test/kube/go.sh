# Where the programs of the tests are built and kept, and how; read by the scripts that build them.
# shellcheck shell=bash disable=SC2034
kube=${XDG_CACHE_HOME:-$HOME/.cache}/binnacle/kube
bin=$kube/bin
export GOPATH=${BINNACLE_KUBE_GOPATH:-$kube/go} GOCACHE=${BINNACLE_KUBE_GOCACHE:-$kube/gocache}
# Without debugging information and inlining they compile in two thirds of the time. The tests do not need them faster.
export CGO_ENABLED=0 GOWORK=off GOFLAGS="-buildvcs=false -modcacherw '-gcflags=all=-dwarf=false -l'"
