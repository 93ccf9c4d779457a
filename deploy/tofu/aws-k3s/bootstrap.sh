#!/usr/bin/env bash
# Makes a new machine a node of its cluster: it fetches the node's secrets from Binnacle with its token, then installs k3s.
# cloud-init runs it once; it can be run again by hand, and goes on where it failed.
#
# Each step is written to /var/log/binnacle-bootstrap.log and reported to Binnacle with the lines of that log. The last line says
# whether the node is up, or what failed.
set -Eeuo pipefail
umask 077

root=${BINNACLE_ROOT:-}
folder=$root/etc/binnacle
manifests=$root/var/lib/rancher/k3s/server/manifests
log=$root/var/log/binnacle-bootstrap.log
k3s=$root/usr/local/bin/k3s
images=$root/var/lib/rancher/k3s/agent/images
metadata=${BINNACLE_METADATA:-http://169.254.169.254}

mkdir -p "$folder" "$root/var/log"
exec 2>>"$log"

# What is printed goes to the machine's console, for people who cannot sign in.
say() {
  echo "$(date -u +%FT%TZ) $1" | tee -a "$log"
}
stage=secrets
step="start"
begin() {
  stage=$1
  step=$2
  say "$step"
  report running 1
}
give_up() {
  trap - ERR
  say "FAILED: $step: $1"
  report failed 6 "$1"
  exit 1
}
trap 'give_up "line $LINENO ended with status $?"' ERR

# A value of a JSON file by its path, or nothing where it is null or missing. Values never reach a command line.
value() {
  python3 - "$@" <<'PYTHON'
import json, sys
with open(sys.argv[1]) as file:
    found = json.load(file)
for key in sys.argv[2:]:
    found = (found or {}).get(key)
print("" if found is None else found)
PYTHON
}

# Downloads or posts, and prints the status. Only temporary failures are tried again, each time after twice as long.
request() {
  local output=$1 tries=$2 wait=2 status
  shift 2
  for ((try = 1; try <= tries; try++)); do
    status=$(curl --silent --show-error --connect-timeout 10 --max-time 300 --output "$output" --write-out '%{http_code}' "$@") || status=000
    case $status in
      000 | 408 | 429 | 5??) echo "attempt $try: status $status, next in $wait s" >&2 ;;
      *) break ;;
    esac
    [ "$try" -lt "$tries" ] || break
    sleep "$wait"
    wait=$((wait * 2 < 60 ? wait * 2 : 60))
  done
  echo "$status"
}

# Writes the next report: the lines of the log that Binnacle does not have yet, without secrets. Prints whether more are left.
next_report() {
  python3 - "$folder" "$log" "$stage" "$@" <<'PYTHON'
import json, os, sys
folder, log, stage, status, message = sys.argv[1:]
def read(name):
    try:
        with open(os.path.join(folder, name)) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}
node, secrets = read("node.json"), read("secrets.json")
if not node.get("report_token"):
    sys.exit(1)
operator = secrets.get("operator") or {}
hidden = [node.get("token"), node.get("report_token"), secrets.get("join_token"), secrets.get("agent_token"), operator.get("token")]
def masked(text):
    for secret in hidden:
        if secret and len(secret) >= 6:
            text = text.replace(secret, "****")
    return text
with open(log, errors="replace") as file:
    lines = file.read().split("\n")[:-1]
first = read("received.json").get("next_line", 0)
chosen, size = [], 0
for line in lines[first:first + 100]:
    line = masked(line)[:1000]
    size += len(json.dumps(line)) + 2
    if chosen and size > 10000:
        break
    chosen.append(line)
is_last = first + len(chosen) >= len(lines)
body = {"cluster_id": node["cluster_id"], "node": node["node"], "token": node["report_token"], "stage": stage}
# The end is told with the last lines.
body["status"] = status if is_last else "running"
if message and is_last:
    body["message"] = masked(message)[:400]
body.update(first_line=first, lines=chosen)
with open(os.path.join(folder, "report.json"), "w") as file:
    json.dump(body, file)
print("last" if is_last else "more")
PYTHON
}

# Tells Binnacle how far the machine is. A report that does not arrive never stops the bootstrap.
report() {
  local status=$1 tries=$2 more code
  for ((part = 1; part <= 30; part++)); do
    more=$(next_report "$status" "${3:-}" 2>/dev/null) || return 0
    code=$(request "$folder/reported.json" "$tries" --max-time 20 --request POST \
      --header 'content-type: application/json' --data-binary "@$folder/report.json" "$api/node-reports" 2>/dev/null) || return 0
    rm -f "$folder/report.json"
    [ "$code" = 200 ] || return 0
    mv "$folder/reported.json" "$folder/received.json"
    [ "$more" = more ] || return 0
  done
}

fetch_secrets() {
  local url status
  # The token answers for some minutes only, so its answer is kept.
  [ ! -s "$folder/secrets.json" ] || return 0
  url=$api/node-bootstrap
  begin secrets "fetch the secrets of the node from $url"
  python3 - "$folder/node.json" "$folder/request.json" <<'PYTHON'
import json, sys
with open(sys.argv[1]) as file:
    node = json.load(file)
with open(sys.argv[2], "w") as file:
    json.dump({key: node[key] for key in ("cluster_id", "node", "token")}, file)
PYTHON
  # For nearly as long as the token lives.
  status=$(request "$folder/answer.json" 110 --request POST --header 'content-type: application/json' --data-binary "@$folder/request.json" "$url")
  rm -f "$folder/request.json"
  case $status in
    200) ;;
    401) give_up "the token of the node was refused: it has been used or has expired; retry the job, which replaces the machine" ;;
    000) give_up "$url could not be reached; check that machines of the cluster may reach the address of Binnacle" ;;
    *) give_up "$url answered with status $status" ;;
  esac
  [ -n "$(value "$folder/answer.json" join_token)" ] || give_up "the answer of Binnacle has no join token"
  mv "$folder/answer.json" "$folder/secrets.json"
}

# All that follows goes through the proxy, but for its exceptions. They become lines of an environment, which nothing may end.
use_proxy() {
  local url exceptions
  url=$(value "$folder/node.json" proxy url)
  exceptions=$(value "$folder/node.json" proxy exceptions)
  [ -n "$url" ] || return 0
  [[ $url,$exceptions =~ ^http://[A-Za-z0-9.:/,-]+$ ]] || give_up "the proxy of the machine is not an address"
  export http_proxy=$url https_proxy=$url no_proxy=$exceptions
}

# Authorities for mirrors and downloads. The folder is that of the system for those of administrators.
trust_authorities() {
  local authorities=$root/usr/local/share/ca-certificates
  [ -n "$(value "$folder/secrets.json" ca_certificates)" ] || return 0
  begin install "trust the authorities of the cluster"
  mkdir -p "$authorities"
  value "$folder/secrets.json" ca_certificates >"$authorities/binnacle.crt"
  chmod 644 "$authorities/binnacle.crt"
  (umask 022 && update-ca-certificates >>"$log") || give_up "the authorities could not be added to those of the system"
}

# Downloads a file of the release of k3s, and leaves it only with its checksum.
download() {
  local file=$1 want=$2 target=$3 version part url have status
  version=$(value "$folder/node.json" k3s_version)
  part=$(dirname "$target")/.$(basename "$target")
  url=$(value "$folder/node.json" k3s_url)
  mkdir -p "$(dirname "$target")"
  # A mirror may have no certificate, because of the checksum.
  set -- --proto "=${url:+http,}https"
  url=${url:-https://github.com/k3s-io/k3s/releases/download}/${version/+/%2B}/$file
  status=$(request "$part" 8 --location --globoff "$@" --url "$url")
  [ "$status" = 200 ] || give_up "$file could not be downloaded from $url: status $status"
  have=$(sha256sum "$part" | cut -d ' ' -f 1)
  if [ "$have" != "$want" ]; then
    rm -f "$part"
    give_up "$file has the checksum $have instead of $want; it is not used"
  fi
  chmod 755 "$part"
  mv "$part" "$target"
}

install_k3s() {
  local version machine suffix="" want file
  version=$(value "$folder/node.json" k3s_version)
  machine=$(uname -m)
  want=$(value "$folder/node.json" k3s_sha256 "$machine")
  begin install "install k3s $version for $machine"
  [ -n "$want" ] || give_up "there is no k3s for machines of type $machine"
  if [ "$machine" = aarch64 ]; then suffix=-arm64; fi
  download "k3s$suffix" "$want" "$k3s"
  [ -n "$(value "$folder/node.json" k3s_images)" ] || return 0
  want=$(value "$folder/node.json" k3s_images "$machine")
  begin install "load the images of k3s $version for $machine"
  [ -n "$want" ] || give_up "the cluster has no checksum of the images for machines of type $machine"
  file=k3s-airgap-images${suffix:--amd64}.tar.zst
  download "$file" "$want" "$images/$file"
}

# The metadata service, which answers only to those that ask for a session first.
instance() {
  curl --silent --fail --noproxy '*' --max-time 5 --retry 5 --retry-connrefused --config "$folder/metadata" "$metadata/latest/meta-data/$1" || true
}

configure() {
  local zone id token
  begin configure "configure k3s"
  token=$(curl --silent --show-error --fail --noproxy '*' --max-time 5 --retry 5 --retry-connrefused --request PUT \
    --header 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$metadata/latest/api/token")
  printf 'header = "X-aws-ec2-metadata-token: %s"\n' "$token" >"$folder/metadata"
  zone=$(instance placement/availability-zone)
  id=$(instance instance-id)
  if [ -z "$zone" ] || [ -z "$id" ]; then give_up "the metadata service does not say which machine this is"; fi
  mkdir -p "$root/etc/rancher/k3s"
  PROVIDER_ID="aws:///$zone/$id" PUBLIC_IP=$(instance public-ipv4) python3 - "$folder" "$root/etc/rancher/k3s" "$manifests" <<'PYTHON'
import base64, json, os, sys
folder, config_folder, manifests = sys.argv[1:]
def read(name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)
def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
def write_manifest(name, value):
    write(os.path.join(manifests, name), json.dumps(value, indent=2) + "\n")
node, secrets = read("node.json"), read("secrets.json")
is_server = not node["server"]
write(os.path.join(config_folder, "join-token"), secrets["join_token"] + "\n")
config = {
    "node-name": node["node"],
    "token-file": "/etc/rancher/k3s/join-token",
    "kubelet-arg": ["cloud-provider=external", "provider-id=" + os.environ["PROVIDER_ID"]],
}
if is_server:
    config["disable-cloud-controller"] = True
    # Services get load balancers of AWS, and claims disks of EBS. What k3s has for both is on single machines.
    config["disable"] = ["servicelb", "local-storage"]
    config["secrets-encryption"] = True
    config["cluster-init"] = True
    config["etcd-snapshot-schedule-cron"] = "0 * * * *"
    config["etcd-snapshot-retention"] = 48
    config["etcd-snapshot-compress"] = True
    bucket = node.get("snapshot_bucket")
    if bucket:
        config["etcd-s3"] = True
        config["etcd-s3-bucket"] = bucket["name"]
        config["etcd-s3-region"] = bucket["region"]
        config["etcd-s3-endpoint"] = bucket["endpoint"]
        config["etcd-s3-folder"] = node["cluster_id"]
    config["write-kubeconfig-mode"] = "0600"
    # Agents have a token of their own: with that of the server one could take over the cluster.
    if secrets.get("agent_token"):
        write(os.path.join(config_folder, "agent-token"), secrets["agent_token"] + "\n")
        config["agent-token-file"] = "/etc/rancher/k3s/agent-token"
    if os.environ["PUBLIC_IP"]:
        config["tls-san"] = [os.environ["PUBLIC_IP"]]
else:
    config["server"] = node["server"]
# JSON is YAML.
write(os.path.join(config_folder, "config.yaml"), json.dumps(config, indent=2) + "\n")
if secrets.get("registries"):
    write(os.path.join(config_folder, "registries.yaml"), json.dumps(secrets["registries"], indent=2) + "\n")
if is_server and secrets.get("ca_certificates"):
    # Jobs that install charts have nothing of the machine's own authorities.
    authorities = {"name": "binnacle-ca-certificates", "namespace": "kube-system"}
    data = {"ca.crt": secrets["ca_certificates"]}
    write_manifest("binnacle-ca-certificates.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": authorities, "data": data})
operator = secrets.get("operator")
if is_server and operator:
    # A HelmChart is not encrypted at rest, and k3s would bring the token in a manifest back when a newer one is in use.
    token = {"name": "binnacle-agent-token", "namespace": operator["namespace"]}
    data = {"token": base64.b64encode(operator["token"].encode()).decode()}
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": operator["namespace"]}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": token, "type": "Opaque", "data": data},
    ]
    write(os.path.join(folder, "operator.json"), json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    values = {
        "hub": {"url": operator["hub_url"]},
        "cluster": {"id": operator["cluster_id"], "existingSecret": token["name"]},
        # Binnacle drains nodes before it removes them, and removes load balancers and volumes before a destroy.
        "rbac": {"infrastructure": True},
        # The machines are the organization's, and so is the last word.
        "limits": {"podSecurity": "privileged"},
    }
    if operator.get("hub_proxy"):
        values["hub"]["proxy"] = operator["hub_proxy"]
    if operator.get("image"):
        values["image"] = operator["image"]
    chart = {
        "apiVersion": "helm.cattle.io/v1",
        "kind": "HelmChart",
        "metadata": {"name": "binnacle-operator", "namespace": "kube-system"},
        "spec": {
            "chart": operator["chart_url"],
            "targetNamespace": operator["namespace"],
            "createNamespace": True,
            "valuesContent": json.dumps(values),
        },
    }
    write_manifest("binnacle-operator.yaml", chart)
PYTHON
  rm -f "$folder/metadata"
}

# The last words of a service are in the log before the machine gives up, because nobody may be able to sign in.
explain_and_give_up() {
  trap - ERR
  journalctl --unit "$1" --no-pager --lines 60 --output cat >>"$log" 2>/dev/null || true
  give_up "$2; the log has the last lines of its journal"
}

# A control plane that takes the place of another one begins with its data. k3s is started without a kubelet first, because a
# node of the same name with another machine and another password is refused.
restore() {
  local snapshot server is_clean=no
  snapshot=$(value "$folder/node.json" restored_snapshot)
  if [ -z "$snapshot" ] || [ -e "$folder/restored" ]; then return 0; fi
  begin start "restore the snapshot $snapshot"
  if ! timeout 900 "$k3s" server --cluster-reset --cluster-reset-restore-path="$snapshot" >"$folder/restore.log" 2>&1; then
    tail -n 40 "$folder/restore.log" >>"$log"
    give_up "k3s did not restore the snapshot; the log has its last lines"
  fi
  "$k3s" server --disable-agent >"$folder/restore.log" 2>&1 &
  server=$!
  for ((try = 1; try <= 120; try++)); do
    if "$k3s" kubectl delete node control-plane --ignore-not-found --wait=false >/dev/null 2>&1 &&
      "$k3s" kubectl --namespace kube-system delete secret control-plane.node-password.k3s --ignore-not-found >/dev/null 2>&1; then
      is_clean=yes
      break
    fi
    sleep 5
  done
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  if [ "$is_clean" = no ]; then
    tail -n 40 "$folder/restore.log" >>"$log"
    give_up "the restored cluster did not answer within ten minutes; the log has the last lines of k3s"
  fi
  rm -f "$folder/restore.log"
  touch "$folder/restored"
}

start() {
  local role=server name=k3s type=notify joined=$root/etc/rancher/k3s/k3s.yaml
  if [ -n "$(value "$folder/node.json" server)" ]; then
    role=agent name=k3s-agent type=exec joined=$root/var/lib/rancher/k3s/agent/kubelet.kubeconfig
  fi
  begin start "start $name"
  mkdir -p "$root/etc/systemd/system"
  if [ -n "${http_proxy:-}" ]; then
    printf '%s\n' "HTTP_PROXY=$http_proxy" "HTTPS_PROXY=$https_proxy" "NO_PROXY=$no_proxy" >"$root/etc/systemd/system/$name.service.env"
  fi
  cat >"$root/etc/systemd/system/$name.service" <<UNIT
[Unit]
Description=k3s $role of a cluster of Binnacle
Wants=network-online.target
After=network-online.target

[Service]
Type=$type
EnvironmentFile=-/etc/systemd/system/$name.service.env
ExecStartPre=-/sbin/modprobe br_netfilter
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/k3s $role
KillMode=process
Delegate=yes
LimitNOFILE=1048576
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s

[Install]
WantedBy=multi-user.target
UNIT
  chmod 644 "$root/etc/systemd/system/$name.service"
  systemctl daemon-reload
  timeout 900 systemctl enable --now "$name" || explain_and_give_up "$name" "$name did not start"
  begin join "wait until $name is part of the cluster"
  # An agent waits for the control plane, which may take minutes.
  for ((try = 1; try <= 360; try++)); do
    if [ -s "$joined" ] && give_operator_its_token; then return 0; fi
    sleep 5
  done
  explain_and_give_up "$name" "it is not after half an hour"
}

# The API server may not answer yet.
give_operator_its_token() {
  local file=$folder/operator.json
  [ -s "$file" ] || return 0
  "$k3s" kubectl apply --server-side --force-conflicts --filename "$file" >/dev/null 2>&1 || return 1
  rm -f "$file"
}

api=$(value "$folder/node.json" public_url)/api/v1
use_proxy
fetch_secrets
trust_authorities
install_k3s
configure
restore
start
stage=ready
say "the node is up"
report completed 8
# k3s has its own copies.
rm -f "$folder/secrets.json" "$folder/node.json" "$folder/received.json"
