#!/usr/bin/env bash
# Packs a folder as a container image of one layer in the format of `docker save`, without a daemon or a registry.
#   image.sh <name:tag> <folder> <file.tar> ['{"Entrypoint": [...], "Env": [...], "User": "..."}']
set -euo pipefail
name=$1 folder=$2 out=$3 config=${4:-{\}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$folder" -cf "$work/layer.tar" .
layer=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
cat >"$work/config.json" <<JSON
{"architecture": "amd64", "os": "linux", "config": $config, "rootfs": {"type": "layers", "diff_ids": ["sha256:$layer"]}}
JSON
cat >"$work/manifest.json" <<JSON
[{"Config": "config.json", "RepoTags": ["$name"], "Layers": ["layer.tar"]}]
JSON
tar -C "$work" -cf "$out" manifest.json config.json layer.tar
