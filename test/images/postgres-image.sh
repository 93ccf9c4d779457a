#!/usr/bin/env bash
# Packs Debian's PostgreSQL as a container image, in the format of `docker save`: postgres-image.sh <name:tag> <file.tar>
# It takes the variables, the data folder and the signal to stop of the official image, which no registry of packages has.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$1 out=$2
bin=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)")
home=${bin%/bin} version=$(basename "${bin%/bin}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{bin,etc,tmp,usr/share/postgresql,usr/share/zoneinfo,var/run/postgresql,var/lib/postgresql/data} "$root$bin" "$root$home/lib"
chmod 1777 "$root/tmp" && chmod 777 "$root/var/run/postgresql"
cp "$(command -v busybox)" "$root/bin/busybox"
for applet in sh id su chown; do ln -s busybox "$root/bin/$applet"; done
cp "$bin"/{postgres,initdb,pg_isready} "$root$bin/"
# What initdb loads. The compiler for queries and the extensions are larger than all the rest.
cp "$home"/lib/{plpgsql,dict_snowball,euc2004_sjis2004}.so "$root$home/lib/"
cp -aL "/usr/share/postgresql/$version" "$root/usr/share/postgresql/"
cp -aL /usr/share/zoneinfo/UTC "$root/usr/share/zoneinfo/"
ldd "$bin"/{postgres,initdb,pg_isready} | grep -o '/[^ :]*\.so[^ :)]*' | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
printf 'root:x:0:0::/:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n' >"$root/etc/passwd"
cat >"$root/entrypoint" <<'SH'
#!/bin/sh
set -e
data=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
  chown postgres "$data"
  exec su postgres -c 'exec /entrypoint'
fi
if [ ! -e "$data/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
  echo "create database $POSTGRES_DB" | postgres --single -D "$data" postgres
fi
exec postgres -D "$data" -c listen_addresses='*'
SH
chmod 755 "$root/entrypoint"
"$here/../kube/node/image.sh" "$name" "$root" "$out" \
  "{\"Entrypoint\": [\"/entrypoint\"], \"Env\": [\"PATH=$bin:/bin\"], \"StopSignal\": \"SIGINT\"}"
