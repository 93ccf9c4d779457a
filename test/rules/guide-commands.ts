/**
 * How each command of the guides is held. `ran`: the test takes it from the page and runs it as it stands, but for addresses, names of files and
 * what a person answers. `alike`: the test does the same by other words, because names or values are those of the test. `unrun`: why no test
 * runs it; its options, arguments and values are compared with those of the program [SP3110].
 */
export type Held = { readonly ran: string } | { readonly alike: string } | { readonly unrun: string };

const [SESSION, GUIDES, COMPOSE] = [
  "test/journeys/first-session.test.ts",
  "test/images/guides.built.test.ts",
  "test/images/compose.built.test.ts",
];
const [NODE, OPERATIONS] = ["test/install/installation.ts", "test/install/operations.test.ts"];
const CI = ".ci/run";
const CLOUD = "packages/cli/src/provisioning.world.test.ts";
const OWN_MACHINE = "It changes the machine that it runs on, and there is no systemd in the tests.";
const INTERNET = "It asks a service on the internet.";
const ROLLOUT = "The tests let Helm wait for the same.";
const S3 = "The tests of a node keep backups on a volume; the Job with S3 is rendered, and taken by an API server.";
const DEBUG = "It copies a pod under an image of a release that does not exist yet.";

/** Pages whose commands are all run by one test, in their order. */
export const WHOLE_PAGES: Readonly<Record<string, string>> = {
  "README.md": SESSION,
  "docs/cli.md": "test/journeys/cli.test.ts",
  "docs/curl.md": SESSION,
  "docs/concepts/changes.md": SESSION,
  "docs/concepts/structure.md": SESSION,
  "docs/operations/namespace-policies.md": SESSION,
};

/** Of the other pages, by how their commands begin. */
export const HELD: Readonly<Record<string, Readonly<Record<string, Held>>>> = {
  "docs/install/air-gapped.md": {
    "npm ci": { ran: CI },
    "test/kube/build.sh helm-linux-amd64": { ran: CI },
    "npm run images -- --output": { alike: "test/images/setup.ts" },
    "BINNACLE_IMAGES_DIR=build/images npx binnacle-server images list": { ran: GUIDES },
    "for image in": { ran: GUIDES },
    "helm install binnacle": { alike: NODE },
    "skopeo list-tags": { ran: COMPOSE },
    "helm pull": { ran: COMPOSE },
    "kubectl --namespace binnacle create configmap addons": { alike: NODE },
    "helm upgrade binnacle": { alike: NODE },
  },
  "docs/install/connect-a-cluster.md": {
    "binnacle clusters register": { ran: SESSION },
    "binnacle clusters preflight": { alike: "test/install/preflight.test.ts" },
    "kubectl apply -f deploy/charts/binnacle-operator/files/": { alike: "test/journeys/console-stage.ts" },
    "BINNACLE_HUB_URL=": { alike: "test/world/operator-process.ts" },
  },
  "docs/install/kubernetes.md": {
    "npm ci": { ran: CI },
    "test/kube/build.sh helm-linux-amd64": { ran: CI },
    "npm run images -- --output": { alike: "test/images/setup.ts" },
    "docker login": { ran: GUIDES },
    "BINNACLE_IMAGES_DIR=build/images npx binnacle-server images push": { ran: GUIDES },
    "kubectl create namespace binnacle": { alike: NODE },
    "kubectl --namespace binnacle create secret generic binnacle-database": { alike: NODE },
    "helm install binnacle": { alike: NODE },
    "kubectl --namespace binnacle rollout status": { unrun: ROLLOUT },
    "kubectl --namespace binnacle get pods": { alike: "test/install/control-plane.test.ts" },
    "curl --fail https://binnacle.example.com/readyz": { alike: COMPOSE },
    "binnacle projects delete": { alike: OPERATIONS },
    "binnacle clusters delete": { ran: SESSION },
    "helm uninstall": { alike: OPERATIONS },
    "kubectl delete leases": { alike: OPERATIONS },
    "kubectl delete crd": { alike: OPERATIONS },
    "kubectl delete namespace": { alike: OPERATIONS },
  },
  "docs/install/one-machine.md": {
    "npm ci && npm start": { alike: "test/faults/start.test.ts" },
    "openssl rand": { ran: GUIDES },
    'echo "k1:': { ran: GUIDES },
    "git clone": { unrun: "The tests have a checkout." },
    "npm ci && npm run build:console": { alike: CI },
    useradd: { unrun: OWN_MACHINE },
    "cp deploy/systemd/": { unrun: OWN_MACHINE },
    systemctl: { unrun: OWN_MACHINE },
    journalctl: { unrun: OWN_MACHINE },
    "skopeo copy oci:build/images/registry": { ran: COMPOSE },
    "docker compose up": { ran: COMPOSE },
    "cat > /usr/local/sbin/binnacle-certificate": { ran: COMPOSE },
    "chmod +x /usr/local/sbin/binnacle-certificate": { ran: COMPOSE },
    "certbot certonly": { unrun: INTERNET },
    "curl --fail https://binnacle.example.com/readyz": { ran: COMPOSE },
    "npm run backup": { ran: SESSION },
  },
  "docs/operations/gitops.md": {
    echo: { alike: "packages/server/src/gitops/content.routes.test.ts" },
    "git -c gpg.ssh": { alike: "packages/server/src/gitops/content.routes.test.ts" },
  },
  "docs/operations/automation.md": { "curl -s": { ran: SESSION } },
  "docs/operations/backup.md": {
    "npx binnacle-server backup /var/backups": { ran: GUIDES },
    "npx binnacle-server backup s3://": { alike: "test/tofu/backup.test.ts" },
    "npx binnacle-server backup /var/backups/before-postgres.gz": { alike: "test/faults/start.test.ts" },
    'mv "$BINNACLE_DATA_DIR/postgres"': { alike: "test/faults/start.test.ts" },
    "npx binnacle-server restore /var/backups/before-postgres.gz": { alike: "test/faults/start.test.ts" },
    "npx binnacle-server restore s3://": { ran: GUIDES },
    "cd /opt/binnacle/deploy/compose && docker compose down": { ran: COMPOSE },
    "docker compose up --detach": { ran: COMPOSE },
    "docker compose run --rm -T binnacle restore": { ran: COMPOSE },
    "kubectl --namespace binnacle create secret generic backups": { unrun: S3 },
    "helm upgrade binnacle": { alike: OPERATIONS },
    "kubectl --namespace binnacle create job backup-now": { alike: "test/install/control-plane.test.ts" },
    "kubectl --namespace binnacle logs": { alike: NODE },
    "helm upgrade --install binnacle": { alike: OPERATIONS },
    "kubectl --namespace shop delete apps.binnacle.dev": { alike: "test/faults/restore.kube.test.ts" },
  },
  "docs/operations/configuration.md": {
    "openssl rand": { ran: GUIDES },
    'echo "k1:': { ran: GUIDES },
    "read -rs password": { ran: GUIDES },
  },
  "docs/operations/exec.md": { "echo 'exec_enabled: false'": { ran: SESSION } },
  "docs/operations/images.md": {
    "npm ci": { ran: CI },
    "test/kube/build.sh helm-linux-amd64": { ran: CI },
    "npm run images -- --output": { alike: "test/images/setup.ts" },
    "skopeo copy oci:build/images/server": { ran: GUIDES },
    "docker run": { ran: GUIDES },
    "docker login": { ran: GUIDES },
    "BINNACLE_IMAGES_DIR=build/images npx binnacle-server images push": { ran: GUIDES },
    "npm run images -- --archives": { alike: "test/images/dockerfile.built.test.ts" },
    "docker build": { alike: "test/images/dockerfile.built.test.ts" },
  },
  "docs/operations/operator.md": {
    "helm upgrade binnacle-operator": { unrun: "The names of the control plane are to be filled in." },
    "kubectl patch persistentvolume": { unrun: "It takes a volume that is kept from before." },
  },
  "docs/operations/aws-proof.md": {
    "test/aws/run.sh": { ran: "test/aws/run.test.ts" },
    "test/aws/run.sh --really": { alike: "test/aws/run.test.ts" },
    "test/aws/run.sh --clean": { alike: "test/aws/run.test.ts" },
  },
  "docs/operations/provisioning.md": {
    "binnacle credentials": { alike: CLOUD },
    "binnacle clusters": { alike: CLOUD },
    "binnacle jobs": { alike: CLOUD },
  },
  "docs/operations/retention.md": {
    "binnacle audit": { alike: "test/journeys/cli.test.ts" },
  },
  "docs/operations/supply-chain.md": {
    "npm ci": { ran: CI },
    "npm audit signatures": { unrun: INTERNET },
    "npm pack fastify": { unrun: INTERNET },
    "node -p": { ran: GUIDES },
    "npm run sbom": { ran: GUIDES },
    "npm --silent run sbom": { ran: GUIDES },
    "sed -E": { ran: GUIDES },
    "ssh-keygen -Y verify": { alike: "test/images/release.built.test.ts" },
    "sha256sum --check": { alike: "test/images/release.built.test.ts" },
    "git checkout v0.1.0": { unrun: "It takes the tag of a release." },
    "test/kube/build.sh helm-linux-amd64": { ran: CI },
    "npm run release -- --dry-run": { alike: "test/images/release.built.test.ts" },
    diff: { alike: "test/images/release.built.test.ts" },
    "DATABASE_URL=": { alike: "test/faults/upgrade.test.ts" },
    "npm run release -- 0.1.0": { alike: "test/release/git.test.ts" },
  },
  "docs/operations/troubleshooting.md": {
    "npx binnacle-server support-bundle": { ran: GUIDES },
    "kubectl --namespace binnacle exec deployment/binnacle-api": {
      unrun: "A pod has the program that the line before runs.",
    },
  },
  "docs/operations/upgrade.md": {
    "npm run upgrade-check": { ran: GUIDES },
    "kubectl --namespace binnacle debug": { unrun: DEBUG },
    "kubectl --namespace binnacle logs upgrade-check": { unrun: DEBUG },
    "kubectl --namespace binnacle delete pod upgrade-check": { unrun: DEBUG },
    "npm run backup": { ran: GUIDES },
    "helm upgrade binnacle": { alike: OPERATIONS },
    "kubectl --namespace binnacle rollout status": { unrun: ROLLOUT },
    "binnacle clusters upgrade-operator": { alike: "packages/cli/src/operator-upgrades.world.test.ts" },
    "binnacle clusters upgrades list": { ran: SESSION },
    "binnacle clusters instructions": { ran: SESSION },
  },
};
