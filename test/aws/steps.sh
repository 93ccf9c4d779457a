# shellcheck shell=bash
# What test/aws/run.sh proves, in this order. Each step has a function prove_<step>, which fails with its first command that does.
STEPS=(policy denial assume-role errors boot imds role volumes load-balancer no-change scale replace restore nothing-left)
declare -A MINUTES=(
  [policy]=5 [denial]=2 [assume-role]=5 [errors]=2 [boot]=30 [imds]=15 [role]=2 [volumes]=10 [load-balancer]=15 [no-change]=5 [scale]=40 [replace]=30
  [restore]=120 [nothing-left]=30
)
# shellcheck disable=SC2034 # run.sh prints it
declare -A DOES=(
  [policy]="a user with the documented policy alone passes the check of its credential"
  [denial]="the same user may not touch a disk that belongs to nobody, nor make a role of another name or without the boundary"
  [assume-role]="a role is assumed with the id of the organization, and refused without it"
  [errors]="a wrong secret and a type that is not offered are told as bad_credentials and not_offered"
  [boot]="a cluster of 2 machines is made and its operator connects"
  [imds]="machines answer IMDSv2 alone, and no container on any node gets a session"
  [role]="the role of the control plane is denied what has the tag of another cluster, by the policies as AWS has them"
  [volumes]="a claim becomes an encrypted gp3 disk, whose data outlives its pod"
  [load-balancer]="the load balancer of Traefik answers from outside"
  [no-change]="a plan of what there is changes nothing"
  [scale]="an agent is added and removed, and no other machine changes"
  [replace]="an agent gets a new machine under the same name"
  [restore]="a control plane that was terminated comes back from its snapshot at the same address, with its apps and their data"
  [nothing-left]="after the deletion AWS has nothing of the cluster"
)

# What was made, so that it can be removed whatever becomes of the run.
remember() { printf '%s %s\n' "$1" "$2" >>"$out/made"; }
made() { sed -n "s/^$1 //p" "$out/made" | tail -n 1; }

until_true() { # seconds, command
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    if [ "$SECONDS" -ge "$end" ]; then echo "$* was not true in time." >&2; return 1; fi
    sleep 10
  done
}
# As the user whose key Binnacle has. Its keys are never on a command line.
as_user() {
  (
    unset AWS_PROFILE AWS_SESSION_TOKEN
    AWS_ACCESS_KEY_ID=$(cat "$secrets/id") AWS_SECRET_ACCESS_KEY=$(cat "$secrets/key")
    export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
    "$@"
  )
}
denied() { # what AWS must refuse for want of a permission
  local said
  if said=$(as_user "$@" 2>&1); then echo "AWS has allowed: $*"; return 1; fi
  grep -E 'UnauthorizedOperation|AccessDenied' <<<"$said" || { echo "$said"; return 1; }
}
job_done() { binnacle jobs wait "$1" --timeout 90m; }
machines() { # query
  aws ec2 describe-instances --output text --query "Reservations[].Instances[].$1" \
    --filters "Name=tag:binnacle:cluster,Values=$(made cluster)" Name=instance-state-name,Values=pending,running
}
machine() { # node, query
  local address=aws_instance.control_plane
  [ "$1" = control-plane ] || address=aws_instance.agent/$1
  aws ec2 describe-instances --output text --query "Reservations[0].Instances[0].$2" \
    --filters "Name=tag:binnacle:cluster,Values=$(made cluster)" "Name=tag:binnacle:address,Values=$address" \
    Name=instance-state-name,Values=pending,running
}
pods() { binnacle apps tree "$run/$1" -o jsonpath='$..[?@.kind=="Pod"].name'; }
has_no_pods() {
  local found
  found=$(pods "$1") && [ -z "$found" ]
}
in_app() { # app, command
  local app=$1
  shift
  binnacle apps exec "$run/$app" --no-tty -- "$@"
}

# The policy is the one of the page, so that nobody is told to give another than the one that was proved.
policy_of_page() { # which of the page, and the bucket
  awk -v wanted="$1" '/^```json$/ { block++; next } /^```$/ { if (block == wanted) exit; next } block == wanted' \
    "$root/docs/operations/provisioning.md" | sed "s/example-cluster-snapshots/$2/g; s/123456789012/$account/g; s/binnacle-boundary/$run-boundary/g"
}

prepare() {
  local bucket=binnacle-$run-$account disk arn boundary
  local tag="Key=binnacle:proof,Value=$run"
  remember bucket "$bucket"
  if [ "$region" = us-east-1 ]; then aws s3api create-bucket --bucket "$bucket"; else
    aws s3api create-bucket --bucket "$bucket" --create-bucket-configuration "LocationConstraint=$region"
  fi
  aws s3api put-bucket-tagging --bucket "$bucket" --tagging "TagSet=[{$tag}]"
  disk=$(aws ec2 create-volume --size 1 --volume-type gp3 --availability-zone "${region}a" --query VolumeId --output text \
    --tag-specifications "ResourceType=volume,Tags=[{$tag}]")
  remember disk "$disk"
  policy_of_page 1 "$bucket" >"$out/policy.json"
  policy_of_page 2 "$bucket" >"$out/boundary.json"
  remember user "$run"
  aws iam create-user --user-name "$run" --tags "$tag"
  boundary=$(aws iam create-policy --policy-name "$run-boundary" --policy-document "file://$out/boundary.json" --tags "$tag" --query Policy.Arn --output text)
  remember policy "$boundary"
  arn=$(aws iam create-policy --policy-name "$run" --policy-document "file://$out/policy.json" --tags "$tag" --query Policy.Arn --output text)
  remember policy "$arn"
  aws iam attach-user-policy --user-name "$run" --policy-arn "$arn"
  (umask 077 && aws iam create-access-key --user-name "$run" --output text \
    --query 'AccessKey.[AccessKeyId,SecretAccessKey]' >"$secrets/both")
  (umask 077 && cut -f 1 "$secrets/both" | tr -d '\n' >"$secrets/id" && cut -f 2 "$secrets/both" | tr -d '\n' >"$secrets/key")
  remember credential "$run"
  binnacle credentials create "$run" --provider aws --region "$region" --access-key-id "$(cat "$secrets/id")" \
    --secret-access-key-file "$secrets/key" --snapshot-bucket "$bucket" --permissions-boundary "$boundary"
}

prove_policy() {
  # A new user is known everywhere only after a while.
  until_true 240 binnacle credentials check "$run"
  binnacle credentials check "$run" -o json
}

prove_denial() {
  denied aws ec2 delete-volume --volume-id "$(made disk)"
  denied aws ec2 create-tags --resources "$(made disk)" --tags "Key=binnacle:cluster,Value=00000000-0000-4000-8000-000000000000"
  local trust='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"ec2.amazonaws.com"}}]}'
  denied aws iam create-role --role-name "$run-other" --assume-role-policy-document "$trust"
  denied aws iam create-role --role-name "binnacle-$run-other" --assume-role-policy-document "$trust"
}

prove_assume_role() {
  local arn="arn:aws:iam::$account:role/$run" organization user
  organization=$(binnacle orgs show "$BINNACLE_ORG" -o jsonpath='$.id')
  user=$(aws iam get-user --user-name "$run" --query User.Arn --output text)
  remember role "$run"
  aws iam create-role --role-name "$run" --tags "Key=binnacle:proof,Value=$run" --assume-role-policy-document \
    "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\",\"Principal\":{\"AWS\":\"$user\"},\"Condition\":{\"StringEquals\":{\"sts:ExternalId\":\"$organization\"}}}]}"
  aws iam attach-role-policy --role-name "$run" --policy-arn "arn:aws:iam::$account:policy/$run"
  remember credential "$run-role"
  binnacle credentials create "$run-role" --provider aws --region "$region" --access-key-id "$(cat "$secrets/id")" \
    --secret-access-key-file "$secrets/key" --permissions-boundary "arn:aws:iam::$account:policy/$run-boundary" --role-arn "$arn"
  until_true 240 binnacle credentials check "$run-role"
  binnacle credentials check "$run-role" -o jsonpath='$.identity' | grep "assumed-role/$run/"
  denied aws sts assume-role --role-arn "$arn" --role-session-name proof
  denied aws sts assume-role --role-arn "$arn" --role-session-name proof --external-id 00000000-0000-4000-8000-000000000000
}

prove_errors() {
  local said
  # Not a secret of anybody.
  printf 'x%.0s' {1..40} >"$secrets/wrong"
  remember credential "$run-wrong"
  binnacle credentials create "$run-wrong" --provider aws --region "$region" --access-key-id "$(cat "$secrets/id")" \
    --secret-access-key-file "$secrets/wrong"
  said=$(binnacle credentials check "$run-wrong" -o jsonpath='$.error.code' || true)
  [ "$said" = bad_credentials ] || { echo "A wrong secret is told as: $said"; return 1; }
  remember cluster_name "$run-type"
  binnacle clusters register "$run-type" --provider aws --credential "$run" --instance-type t9.large --agents 0
  said=$(binnacle jobs list "$run-type" -o jsonpath='$.data[0].id')
  binnacle jobs wait "$said" --timeout 10m || true
  said=$(binnacle jobs show "$said" -o jsonpath='$.error_code')
  [ "$said" = not_offered ] || { echo "A type that does not exist is told as: $said"; return 1; }
  echo "bad_credentials, not_offered"
}

prove_boot() {
  local cluster job
  remember cluster_name "$run"
  cluster=$(binnacle clusters register "$run" --provider aws --credential "$run" --instance-type "$instance_type" \
    --disk-size "$disk_gb" --agents 1 -o jsonpath='$.id')
  remember cluster "$cluster"
  job=$(binnacle jobs list "$run" -o jsonpath='$.data[0].id')
  job_done "$job"
  [ "$(binnacle clusters show "$run" -o jsonpath='$.status')" = connected ]
  [ "$(machines InstanceId | wc -w)" = 2 ]
  # One app for what follows: a pod on every node, and one with a disk.
  binnacle projects create "$run" --cluster "$run" --pod-security baseline --isolation none
  cat >"$out/binnacle.yaml" <<YAML
name: proof
project: $run
components:
  - name: everywhere
    workload_spec: { kind: daemonset, image: "docker.io/library/busybox:1.37", command: [sleep, "1000000"] }
---
name: data
project: $run
components:
  - name: store
    workload_spec:
      kind: statefulset
      image: docker.io/library/busybox:1.37
      command: [sleep, "1000000"]
      replicas: 1
      volumes: [{ name: data, mount_path: /data, size_gb: 1 }]
YAML
  binnacle apps deploy -f "$out/binnacle.yaml" --yes --timeout 15m
  remember deployed "$(date -u +%FT%T)"
  echo "connected with 2 machines"
}

prove_imds() {
  local pod said seen=0 ask
  ask="printf 'PUT /latest/api/token HTTP/1.1\r\nHost: 169.254.169.254\r\nX-aws-ec2-metadata-token-ttl-seconds: 60\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' | nc -w 5 169.254.169.254 80"
  machines '[MetadataOptions.HttpTokens,MetadataOptions.HttpPutResponseHopLimit]' | sort -u | tee "$out/imds"
  [ "$(tr '\t' ' ' <"$out/imds")" = "required 1" ]
  for pod in $(pods proof); do
    [ "$(binnacle apps exec "$run/proof" --pod "$pod" --no-tty -- echo reached)" = reached ]
    said=$(binnacle apps exec "$run/proof" --pod "$pod" --no-tty -- timeout 20 sh -c "$ask" || true)
    [ -z "$said" ] || { echo "$pod got an answer of the metadata service."; return 1; }
    seen=$((seen + 1))
  done
  [ "$seen" = 2 ]
  echo "no answer to a container on $seen nodes"
}

decision() { # action, resource, value of the tag of the cluster
  aws iam simulate-principal-policy --policy-source-arn "arn:aws:iam::$account:role/binnacle-$(made cluster)-control-plane" \
    --action-names "$1" --resource-arns "$2" --query 'EvaluationResults[0].EvalDecision' --output text \
    --context-entries "ContextKeyName=aws:ResourceTag/kubernetes.io/cluster/$3,ContextKeyType=string,ContextKeyValues=owned"
}
prove_role() {
  local volume="arn:aws:ec2:$region:$account:volume/vol-0123456789abcdef0" other=00000000-0000-4000-8000-000000000000 bucket
  bucket=arn:aws:s3:::$(made bucket)
  [ "$(decision ec2:DeleteVolume "$volume" "$(made cluster)")" = allowed ]
  [ "$(decision ec2:DeleteVolume "$volume" $other)" = implicitDeny ]
  [ "$(decision ec2:TerminateInstances '*' "$(made cluster)")" = implicitDeny ]
  [ "$(decision s3:GetObject "$bucket/$(made cluster)/x" "$(made cluster)")" = allowed ]
  [ "$(decision s3:GetObject "$bucket/$other/x" "$(made cluster)")" = implicitDeny ]
  echo "its own is allowed, and another cluster's denied"
}

prove_volumes() {
  local pod disk
  in_app data sh -c 'echo kept >/data/proof && sync'
  disk=$(aws ec2 describe-volumes --output text --query 'Volumes[].[VolumeType,Encrypted,State]' \
    --filters "Name=tag:kubernetes.io/cluster/$(made cluster),Values=owned" Name=tag-key,Values=CSIVolumeName)
  [ "$(tr '\t' ' ' <<<"$disk")" = "gp3 True in-use" ] || { echo "$disk"; return 1; }
  pod=$(pods data)
  binnacle apps pause "$run/data"
  until_true 300 has_no_pods data
  binnacle apps resume "$run/data"
  until_true 300 in_app data test -s /data/proof
  echo "the data of $pod was there again"
}

balancer() {
  local network
  network=$(aws ec2 describe-vpcs --filters "Name=tag:binnacle:cluster,Values=$(made cluster)" --query 'Vpcs[0].VpcId' --output text)
  {
    aws elb describe-load-balancers --output text --query "LoadBalancerDescriptions[?VPCId=='$network'].DNSName"
    aws elbv2 describe-load-balancers --output text --query "LoadBalancers[?VpcId=='$network'].DNSName"
  } | head -n 1
}
answers() {
  local name
  name=$(balancer)
  # Traefik has no route for it, and says so.
  [ -n "$name" ] && [ "$(curl -sS -m 10 -o /dev/null -w '%{http_code}' "http://$name/")" = 404 ]
}
prove_load_balancer() {
  until_true 840 answers
  echo "$(balancer) answers"
}

prove_no_change() {
  binnacle clusters plan "$run" scale --nodes 2 -o json >"$out/plan.json"
  node -e '
    const { summary } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    console.log(JSON.stringify(summary));
    process.exit(summary.add + summary.change + summary.remove === 0 ? 0 : 1);
  ' "$out/plan.json"
}

prove_scale() {
  local before job
  before=$(machines InstanceId | tr '\t' '\n' | sort)
  job=$(binnacle clusters scale "$run" 3 -o jsonpath='$.id')
  job_done "$job"
  [ "$(machines InstanceId | wc -w)" = 3 ]
  [ "$(binnacle clusters show "$run" -o jsonpath='$.node_count')" = 3 ]
  job=$(binnacle clusters scale "$run" 2 -o jsonpath='$.id')
  job_done "$job"
  [ "$(machines InstanceId | tr '\t' '\n' | sort)" = "$before" ]
  echo "3 machines and back to the same 2"
}

prove_replace() {
  local before control job
  before=$(machine agent-1 InstanceId) control=$(machine control-plane InstanceId)
  job=$(binnacle clusters replace-node "$run" agent-1 -o jsonpath='$.id')
  job_done "$job"
  [ "$(machine agent-1 InstanceId)" != "$before" ]
  [ "$(machine control-plane InstanceId)" = "$control" ]
  echo "$before became $(machine agent-1 InstanceId)"
}

has_snapshot() { # of the time when the apps were there
  local newest
  newest=$(aws s3api list-objects-v2 --bucket "$(made bucket)" --prefix "$(made cluster)/etcd-snapshot" \
    --query 'max_by(Contents || `[]`, &LastModified).LastModified' --output text)
  [[ $newest == 2* && $newest > $(made deployed) ]]
}
is_connected() { [ "$(binnacle clusters show "$run" -o jsonpath='$.status')" = connected ]; }
prove_restore() {
  local before address job
  # Snapshots are put there at every full hour; the next one knows of the apps.
  until_true 3900 has_snapshot
  before=$(machine control-plane InstanceId) address=$(machine control-plane PrivateIpAddress)
  aws ec2 terminate-instances --instance-ids "$before"
  aws ec2 wait instance-terminated --instance-ids "$before"
  job=$(binnacle clusters replace-node "$run" control-plane --force -o jsonpath='$.id')
  job_done "$job"
  until_true 600 is_connected
  [ "$(machine control-plane InstanceId)" != "$before" ]
  [ "$(machine control-plane PrivateIpAddress)" = "$address" ]
  until_true 900 in_app data test -s /data/proof
  echo "$before became $(machine control-plane InstanceId) at $address"
}

prove_nothing_left() {
  delete_clusters
  what_is_left_of "$(made cluster)" >"$out/left-of-cluster"
  [ ! -s "$out/left-of-cluster" ] || { cat "$out/left-of-cluster"; return 1; }
  echo "nothing is left of $(made cluster)"
}
