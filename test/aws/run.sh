#!/usr/bin/env bash
# Proves in a real account of AWS what no local server can: docs/operations/aws-proof.md has the claims. Without --really it changes nothing,
# needs no network, and prints what it would do and what that costs.
#   test/aws/run.sh [options]                      print the plan
#   test/aws/run.sh [options] --really <account>   do it; the id of the account is asked for once more
#   test/aws/run.sh --clean <folder of a run>      remove what a run that was killed has left
#   --region <region>    (eu-central-1)   --instance-type <type>   (t3.large)   --steps <names, with commas>   (all)
#   --output <folder>    for the report, which has no secrets   (build/aws-proof/<run>)
# It takes the AWS CLI with an administrator of the account (AWS_PROFILE or the like), curl, and a control plane that the machines reach:
# BINNACLE_URL, BINNACLE_TOKEN of an administrator of the organization, and BINNACLE_ORG.
# In single quotes are code of Node.js and Markdown, which are not for the shell.
# shellcheck disable=SC2016
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# The command line of this checkout is used where none is installed.
export PATH="$PATH:$root/node_modules/.bin" AWS_PAGER='' NO_COLOR=1

region=eu-central-1 instance_type=t3.large wanted=all account='' out='' clean='' disk_gb=50
stop() { echo "error: $1" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || stop "$1 takes a value; the head of ${BASH_SOURCE[0]} lists the options."
  case $1 in
    --region) region=$2 ;;
    --instance-type) instance_type=$2 ;;
    --steps) wanted=$2 ;;
    --output) out=$2 ;;
    --really) account=$2 ;;
    --clean) clean=$2 ;;
    *) stop "There is no option $1; the head of ${BASH_SOURCE[0]} lists them." ;;
  esac
  shift 2
done

# shellcheck source=steps.sh
. "$here/steps.sh"
# shellcheck source=cleanup.sh
. "$here/cleanup.sh"

chosen=()
for step in "${STEPS[@]}"; do
  if [ "$wanted" = all ] || [[ ",$wanted," == *",$step,"* ]]; then chosen+=("$step"); fi
done
for name in ${wanted//,/ }; do
  [ "$name" = all ] || [[ " ${STEPS[*]} " == *" $name "* ]] || stop "There is no step $name; they are: ${STEPS[*]}."
done

# Three machines for as long as all steps may take, by the list prices that plans have.
cost() {
  local estimate="$root/packages/server/src/cloud/aws/aws-estimate.ts"
  node --input-type=module -e '
    const [file, region, instanceType, diskSizeGb, hours] = process.argv.slice(1);
    const { estimate } = await import(file);
    const { monthly, currency, prices_of } = estimate({ region, instanceType, diskSizeGb: Number(diskSizeGb), agentCount: 2 });
    console.log(monthly === null ? "The price is not known: there are no prices of it." : `The price is at most ${((monthly / 730) * hours).toFixed(2)} ${currency} (prices of ${prices_of}), and less than 1 USD for disks, snapshots, traffic and a load balancer.`);
  ' "$estimate" "$region" "$instance_type" "$disk_gb" "$1"
}

print_plan() {
  local step minutes=20
  echo "In the region $region, with machines $instance_type:"
  for step in "${chosen[@]}"; do
    minutes=$((minutes + MINUTES[$step]))
    printf '  %-14s up to %2d min  %s\n' "$step" "${MINUTES[$step]}" "${DOES[$step]}"
  done
  echo "It makes a bucket, a user with a policy and a key, and a disk that belongs to nobody, with the tag binnacle:proof; in Binnacle a credential and"
  echo "a cluster of 2 to 3 machines, which has Binnacle's own tags. At the end it removes all of them, whatever happens, and looks whether they are gone."
  echo "It takes up to $((minutes / 60 + 1)) hours."
  cost $((minutes / 60 + 1))
}

caller() { aws sts get-caller-identity --query Account --output text; }

require() {
  local name
  for name in aws binnacle curl node; do command -v "$name" >/dev/null || stop "$name is missing."; done
  for name in BINNACLE_URL BINNACLE_TOKEN BINNACLE_ORG; do [ -n "${!name:-}" ] || stop "$name is not set."; done
}

# A step runs in a shell of its own, so that its first failing command ends it; what it prints is its evidence.
run_step() {
  local step=$1 began=$SECONDS code
  echo "== $step: ${DOES[$step]}" >&2
  set +e
  (set -e; "prove_$(tr - _ <<<"$step")") >"$out/$step.log" 2>&1
  code=$?
  set -e
  result[$step]=$([ "$code" = 0 ] && echo proved || echo failed)
  took[$step]=$((SECONDS - began))
  echo "   ${result[$step]} after ${took[$step]} s" >&2
}

write_report() {
  local step
  {
    printf '# What was proved in account %s, region %s\n\nRun %s, release %s, %s.\n\n' \
      "$account" "$region" "$run" "$(node -p "require('$root/package.json').version")" "$(date -u +%FT%TZ)"
    printf '| step | result | seconds | last line of the evidence |\n|---|---|---|---|\n'
    for step in "${chosen[@]}"; do
      printf '| `%s` | %s | %s | %s |\n' "$step" "${result[$step]:-not reached}" "${took[$step]:-}" \
        "$(tail -n 1 "$out/$step.log" 2>/dev/null | tr '|' '/' || true)"
    done
    printf '\nCleanup: %s\n' "$cleaned"
  } >"$out/report.md"
  echo "The report is $out/report.md." >&2
}

finish() {
  local code=$? step
  trap '' INT TERM HUP
  trap - EXIT
  # Nothing here may keep the rest from being removed.
  set +e
  cleaned='nothing is left'
  clean_up >"$out/cleanup.log" 2>&1
  # AWS lists what is gone for a while.
  for _ in {1..12}; do
    what_is_left >"$out/left"
    [ -s "$out/left" ] || break
    sleep 10
  done
  if [ -s "$out/left" ]; then
    cleaned="not everything is gone, or AWS could not be asked: $(tr '\n' ' ' <"$out/left")"
    echo "error: $cleaned" >&2
    echo "fix: test/aws/run.sh --clean $out" >&2
    code=1
  fi
  rm -rf "$secrets"
  if [ -z "$clean" ]; then
    write_report
    for step in "${chosen[@]}"; do [ "${result[$step]:-}" = proved ] || code=1; done
  fi
  exit "$code"
}

declare -A result=() took=()
if [ -n "$clean" ]; then
  require
  out=$clean
  [ -s "$out/made" ] || stop "$out is not the folder of a run: it has no file 'made'."
  run=$(made run) account=$(made account) region=$(made region)
  [ "$(caller)" = "$account" ] || stop "The run was in the account $account, and this is another one."
  secrets=$(mktemp -d)
  export AWS_REGION=$region AWS_DEFAULT_REGION=$region
  trap finish EXIT
  exit 0
fi

print_plan
if [ -z "$account" ]; then
  echo "Nothing was changed. With --really <account> it begins."
  exit 0
fi
[[ $account =~ ^[0-9]{12}$ ]] || stop "The id of an account has 12 digits."
require
printf 'Type the id of the account once more to begin: ' >&2
read -r repeated || repeated=''
[ "$repeated" = "$account" ] || stop "That is not $account. Nothing was changed."
export AWS_REGION=$region AWS_DEFAULT_REGION=$region
actual=$(caller)
[ "$actual" = "$account" ] || stop "The AWS CLI is signed in to $actual, not to $account. Nothing was changed."

run=proof-$(od -An -N4 -tx1 /dev/urandom | tr -d ' \n')
out=${out:-$root/build/aws-proof/$run}
mkdir -p "$out"
secrets=$(umask 077 && mktemp -d)
remember run "$run" && remember account "$account" && remember region "$region"
trap finish EXIT
trap 'exit 130' INT TERM HUP
set +e
(set -e; prepare) >"$out/prepare.log" 2>&1
code=$?
set -e
if [ "$code" != 0 ]; then tail -n 5 "$out/prepare.log" >&2; exit 1; fi
for step in "${chosen[@]}"; do
  run_step "$step"
  # Without a cluster the rest says nothing.
  [ "$step" != boot ] || [ "${result[boot]}" = proved ] || break
done
