# shellcheck shell=bash
# Removes what test/aws/run.sh has made: by Binnacle first, as a user would, and what that leaves by the AWS CLI.

all_made() { sed -n "s/^$1 //p" "$out/made" | sort -u; }
# By its exit code: a control plane that does not answer has not said that a cluster is gone.
is_gone() {
  local code=0
  binnacle clusters show "$1" >/dev/null 2>&1 || code=$?
  [ "$code" = 3 ]
}

delete_clusters() {
  local name id
  for name in $(all_made cluster_name); do
    if is_gone "$name"; then continue; fi
    # A run that was killed may not have written it down.
    id=$(binnacle clusters show "$name" -o jsonpath='$.id') && remember cluster "$id"
    binnacle clusters delete "$name" --yes
    until_true 1500 is_gone "$name"
  done
}

# Where AWS cannot be asked, that is a line too: it is not an empty answer.
ids() { # service, operation, query and filters
  local found
  if found=$(aws "$1" "$2" --output text --query "$3" "${@:4}"); then
    tr '\t' '\n' <<<"$found" | sed -E '/^(None)?$/d'
  else
    echo "unknown:$1:$2"
  fi
}
there() { # what it is, and what describes it
  local said
  if said=$(aws "${@:2}" 2>&1); then echo "$1"; elif ! grep -qE 'NoSuchEntity|NotFound|Not Found' <<<"$said"; then echo "unknown:$1"; fi
}

# Everything of a cluster that costs money or gives rights, a line each.
what_is_left_of() {
  local ours="Name=tag:binnacle:cluster,Values=$1" kubernetes="Name=tag:kubernetes.io/cluster/$1,Values=owned" name="binnacle-$1-control-plane"
  ids ec2 describe-instances 'Reservations[].Instances[].InstanceId' --filters "$ours" Name=instance-state-name,Values=pending,running,stopping,stopped,shutting-down
  ids ec2 describe-volumes 'Volumes[].VolumeId' --filters "$ours"
  ids ec2 describe-volumes 'Volumes[].VolumeId' --filters "$kubernetes"
  ids ec2 describe-snapshots 'Snapshots[].SnapshotId' --owner-ids self --filters "$kubernetes"
  ids ec2 describe-vpcs 'Vpcs[].VpcId' --filters "$ours"
  ids ec2 describe-internet-gateways 'InternetGateways[].InternetGatewayId' --filters "$ours"
  ids ec2 describe-security-groups 'SecurityGroups[].GroupId' --filters "$ours"
  ids ec2 describe-key-pairs 'KeyPairs[].KeyName' --filters "$ours"
  ids ec2 describe-addresses 'Addresses[].AllocationId' --filters "$ours"
  ids resourcegroupstaggingapi get-resources 'ResourceTagMappingList[].ResourceARN' --tag-filters "Key=kubernetes.io/cluster/$1,Values=owned" \
    --resource-type-filters elasticloadbalancing:loadbalancer elasticloadbalancing:targetgroup
  there "role:$name" iam get-role --role-name "$name"
  there "profile:$name-profile" iam get-instance-profile --instance-profile-name "$name-profile"
}

what_is_left() {
  local id
  for id in $(all_made cluster); do what_is_left_of "$id"; done
  for id in $(all_made cluster_name); do if ! is_gone "$id"; then echo "cluster:$id"; fi; done
  for id in $(all_made disk); do ids ec2 describe-volumes 'Volumes[].VolumeId' --filters "Name=volume-id,Values=$id"; done
  for id in $(all_made user); do there "user:$id" iam get-user --user-name "$id"; done
  for id in $(all_made role); do there "role:$id" iam get-role --role-name "$id"; done
  for id in $(all_made policy); do there "policy:$id" iam get-policy --policy-arn "$id"; done
  for id in $(all_made bucket); do there "bucket:$id" s3api head-bucket --bucket "$id"; done
}

# What Binnacle could not remove, in the order of what depends on what. AWS tells of machines that are gone only after a while.
remove_by_hand() {
  local cluster=$1 try id network role="binnacle-$1-control-plane"
  local ours="Name=tag:binnacle:cluster,Values=$1"
  for try in {1..20}; do
    [ -n "$(what_is_left_of "$cluster")" ] || return 0
    echo "What Binnacle has left is removed by hand, try $try."
    network=$(ids ec2 describe-vpcs 'Vpcs[].VpcId' --filters "$ours")
    for id in $(ids elb describe-load-balancers "LoadBalancerDescriptions[?VPCId=='$network'].LoadBalancerName"); do
      aws elb delete-load-balancer --load-balancer-name "$id"
    done
    for id in $(ids elbv2 describe-load-balancers "LoadBalancers[?VpcId=='$network'].LoadBalancerArn"); do
      aws elbv2 delete-load-balancer --load-balancer-arn "$id"
    done
    for id in $(ids elbv2 describe-target-groups "TargetGroups[?VpcId=='$network'].TargetGroupArn"); do
      aws elbv2 delete-target-group --target-group-arn "$id"
    done
    for id in $(ids ec2 describe-instances 'Reservations[].Instances[].InstanceId' --filters "$ours" Name=instance-state-name,Values=pending,running,stopping,stopped); do
      aws ec2 terminate-instances --instance-ids "$id"
    done
    for id in $(ids ec2 describe-volumes 'Volumes[].VolumeId' --filters "$ours") \
      $(ids ec2 describe-volumes 'Volumes[].VolumeId' --filters "Name=tag:kubernetes.io/cluster/$cluster,Values=owned"); do
      aws ec2 delete-volume --volume-id "$id"
    done
    if [ -n "$network" ]; then
      for id in $(ids ec2 describe-network-interfaces 'NetworkInterfaces[].NetworkInterfaceId' --filters "Name=vpc-id,Values=$network" Name=status,Values=available); do
        aws ec2 delete-network-interface --network-interface-id "$id"
      done
      for id in $(ids ec2 describe-security-groups "SecurityGroups[?GroupName!='default'].GroupId" --filters "Name=vpc-id,Values=$network"); do
        aws ec2 delete-security-group --group-id "$id"
      done
      for id in $(ids ec2 describe-subnets 'Subnets[].SubnetId' --filters "Name=vpc-id,Values=$network"); do
        aws ec2 delete-subnet --subnet-id "$id"
      done
      for id in $(ids ec2 describe-internet-gateways 'InternetGateways[].InternetGatewayId' --filters "$ours"); do
        aws ec2 detach-internet-gateway --internet-gateway-id "$id" --vpc-id "$network"
        aws ec2 delete-internet-gateway --internet-gateway-id "$id"
      done
      aws ec2 delete-vpc --vpc-id "$network"
    fi
    for id in $(ids ec2 describe-key-pairs 'KeyPairs[].KeyName' --filters "$ours"); do aws ec2 delete-key-pair --key-name "$id"; done
    aws iam remove-role-from-instance-profile --instance-profile-name "$role-profile" --role-name "$role"
    aws iam delete-instance-profile --instance-profile-name "$role-profile"
    aws iam delete-role-policy --role-name "$role" --policy-name kubernetes
    aws iam delete-role --role-name "$role"
    sleep 15
  done
}

# Each part is tried whatever became of the one before.
clean_up() {
  local id key
  delete_clusters
  for id in $(all_made cluster); do remove_by_hand "$id"; done
  # Binnacle ends its record when it finds that nothing is left.
  delete_clusters
  for id in $(all_made credential); do binnacle credentials delete "$id" --yes; done
  for id in $(all_made user); do
    for key in $(ids iam list-access-keys 'AccessKeyMetadata[].AccessKeyId' --user-name "$id"); do
      aws iam delete-access-key --user-name "$id" --access-key-id "$key"
    done
    for key in $(all_made policy); do aws iam detach-user-policy --user-name "$id" --policy-arn "$key"; done
    aws iam delete-user --user-name "$id"
  done
  for id in $(all_made role); do
    for key in $(all_made policy); do aws iam detach-role-policy --role-name "$id" --policy-arn "$key"; done
    aws iam delete-role --role-name "$id"
  done
  for id in $(all_made policy); do aws iam delete-policy --policy-arn "$id"; done
  for id in $(all_made disk); do aws ec2 delete-volume --volume-id "$id"; done
  # Snapshots of a cluster outlive it by design, and not by this run.
  for id in $(all_made bucket); do aws s3 rb "s3://$id" --force; done
}
