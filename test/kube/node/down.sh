#!/usr/bin/env bash
# Ends the node that up.sh started, with its images, volumes and objects, and removes all that is left of it.
set -euo pipefail
dir=$(realpath -m "${NODE_DIR:-/tmp/binnacle-node}")
net=${NODE_NET:-10.213}
link=bn${net//./-}
if [ -n "$(ls -A "$dir" 2>/dev/null)" ] && [ ! -e "$dir/.binnacle-node" ]; then
  echo "$dir is not the folder of a node. It is left alone." >&2
  exit 1
fi
if [ -s "$dir/pid" ]; then
  pid=$(cat "$dir/pid")
  # A process id may be in use again by something else. The node works in its own folder.
  if [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$dir" ]; then
    # The process is the first of its namespace, so all others end with it, and their mounts and interfaces go.
    kill -9 "$pid"
    while [ -d "/proc/$pid" ]; do sleep 0.05; done
  fi
fi
ip link del "$link" 2>/dev/null || true
for group in /sys/fs/cgroup/"$link" /sys/fs/cgroup/*/"$link"; do
  [ ! -d "$group" ] || for _ in $(seq 100); do
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null && break
    sleep 0.05
  done
done
# Another node may use the folder.
grep -qs " /tmp/hostpath_pv " /proc/[0-9]*/mountinfo || rmdir /tmp/hostpath_pv 2>/dev/null || true
rm -rf "$dir"
