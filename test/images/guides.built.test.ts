import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { variablesOf } from "../rules/one-machine.ts";
import { commandOf, readPage } from "../world/guide.ts";
import { VERSION } from "./layout.ts";
import { CHECKOUT, missingForDocker, OwnMachine } from "./own-machine.ts";
import { HTPASSWD } from "./registry-clients.ts";

const missing = missingForDocker();
if (missing)
  process.stderr.write(`SKIPPED: the lines of guides that take a machine are not run, because ${missing}.\n`);

const PATIENT = { timeout: 60_000, interval: 500 };
const [IMAGES, BACKUP, UPGRADE] = [
  "docs/operations/images.md",
  "docs/operations/backup.md",
  "docs/operations/upgrade.md",
];
const [ONE_MACHINE, KUBERNETES] = ["docs/install/one-machine.md", "docs/install/kubernetes.md"];
const PASSWORD = "another horse battery";

describe.skipIf(missing !== null)("the lines of the guides, in a checkout on a machine", { timeout: 600_000 }, () => {
  let machine: OwnMachine;
  /** Of the server that the image runs, and of what `npx binnacle-server` reads. */
  let settings: Readonly<Record<string, string>>;
  const run = (page: string, start: string, language?: string) =>
    machine.run(commandOf(page, start, language), CHECKOUT, settings);

  /** An empty database of the stand-in, as an address. */
  async function emptyDatabase(name: string): Promise<string> {
    const given = ["USER=binnacle", "PASSWORD=password", "DB=binnacle"].map((one) => `--env POSTGRES_${one}`).join(" ");
    await machine.run(`docker run --detach --name ${name} ${given} postgres:17`);
    await vi.waitFor(() => machine.run(`docker exec ${name} pg_isready --username binnacle --host 127.0.0.1`), PATIENT);
    const address = await machine.run(`docker inspect --format '{{.NetworkSettings.IPAddress}}' ${name}`);
    return `postgres://binnacle:password@${address.trim()}:5432/binnacle`;
  }

  beforeAll(async () => {
    machine = await OwnMachine.start();
    const [given = {}] = variablesOf(readPage(IMAGES), "properties");
    settings = { ...given, DATABASE_URL: await emptyDatabase("database"), BINNACLE_ENVIRONMENT: "production" };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await machine.write(`${CHECKOUT}/binnacle.env`, lines.join(""));
    await run(IMAGES, "skopeo copy oci:build/images/server");
    await machine.run(`${commandOf(IMAGES, "docker run")} >/opt/server.log 2>&1 &`, CHECKOUT);
    const host = new URL(settings["BINNACLE_PUBLIC_URL"] ?? "").host;
    await vi.waitFor(() => machine.run(`curl -sSf -H 'Host: ${host}' http://127.0.0.1:8080/readyz`), PATIENT);
  }, 600_000);
  afterAll(() => machine?.stop());

  test("[SP3115] the lines for backups write files, and the line for a restore takes one into an empty database", async () => {
    await run(BACKUP, "npx binnacle-server backup /var/backups/binnacle.gz");
    await run(UPGRADE, "npm run backup");
    const restore = commandOf(BACKUP, "npx binnacle-server restore s3://");
    for (const file of ["/var/backups/binnacle.gz", "before-upgrade.gz"]) {
      const DATABASE_URL = await emptyDatabase(`restored-${file.replaceAll(/\W/g, "-")}`);
      await machine.run(restore.replace(/s3:\S+/, file), CHECKOUT, { ...settings, DATABASE_URL });
    }
  });

  test("[SP3115] the check before an upgrade finds nothing to mind", async () => {
    expect(await run(UPGRADE, "npm run upgrade-check")).toContain("Ready.");
  });

  test("[SP3115] a bundle for support has the end of the log that the line names, and no secret", async () => {
    await machine.run("echo 'a line of the log' >/var/log/binnacle.log");
    await run("docs/operations/troubleshooting.md", "npx binnacle-server support-bundle");
    const bundle = await machine.run("tar -xzOf support.tar.gz", CHECKOUT);
    expect(bundle).toContain("a line of the log");
    expect(bundle).not.toContain(settings["BINNACLE_SECRET_KEY"]);
  });

  test("[SP3115] the line for a new password gives it to the administrator", async () => {
    const line = commandOf("docs/operations/configuration.md", "read -rs password");
    await machine.run(`echo '${PASSWORD}' | { ${line}; }`, CHECKOUT, settings);
    const form = `--data-urlencode username=admin --data-urlencode 'password=${PASSWORD}'`;
    const host = new URL(settings["BINNACLE_PUBLIC_URL"] ?? "").host;
    const login = `curl -sSf -H 'Host: ${host}' ${form} http://127.0.0.1:8080/api/v1/login`;
    expect(await machine.run(login)).toContain("access_token");
  });

  test("[SP3115] the lines of a closed network list the images and import them into containerd", async () => {
    const page = "docs/install/air-gapped.md";
    expect(await run(page, "BINNACLE_IMAGES_DIR=build/images npx binnacle-server images list")).toContain(
      "binnacle/server",
    );
    // The engine's own containerd is the one that is here.
    await machine.run(
      "mkdir -p /run/containerd && ln -s /run/docker/containerd/containerd.sock /run/containerd/containerd.sock",
    );
    await run(page, "for image in");
    const imported = await machine.run("ctr --namespace k8s.io images list --quiet");
    for (const name of ["server", "registry"])
      expect(imported).toContain(`images.example/binnacle/${name}:${VERSION}\n`);
  });

  test("[SP3115] after docker login the images are pushed to a registry of the company, also below a prefix", async () => {
    const host = "registry.example.com";
    const subject = `-subj /CN=${host} -addext subjectAltName=DNS:${host}`;
    await machine.run(`mkdir -p registry /etc/docker/certs.d/${host} && echo 127.0.0.1 ${host} >>/etc/hosts`, "/opt");
    const files = `-keyout key.pem -out /etc/docker/certs.d/${host}/ca.crt`;
    await machine.run(`openssl req -x509 -newkey rsa:2048 -nodes -days 2 ${subject} ${files}`, "/opt/registry");
    await machine.write("/opt/registry/htpasswd", HTPASSWD);
    const certificate = `/etc/docker/certs.d/${host}/ca.crt`;
    const config = {
      version: 0.1,
      storage: { filesystem: { rootdirectory: "/opt/registry/data" } },
      http: { addr: "127.0.0.1:443", tls: { certificate, key: "/opt/registry/key.pem" } },
      auth: { htpasswd: { realm: "test", path: "/opt/registry/htpasswd" } },
    };
    await machine.write("/opt/registry/config.yml", JSON.stringify(config));
    await machine.run("docker-registry serve config.yml >log 2>&1 &", "/opt/registry");
    await vi.waitFor(() => machine.run(`curl -s --cacert ${certificate} https://${host}/v2/`), PATIENT);
    for (const [page, prefix] of [
      [IMAGES, "/mirror"],
      [KUBERNETES, ""],
    ] as const) {
      // It asks on a terminal.
      const login = commandOf(page, "docker login");
      await machine.run(`printf 'robot\\nhush-robot\\n' | script --quiet --return --command '${login}' /dev/null`);
      const push = commandOf(page, "BINNACLE_IMAGES_DIR=build/images npx binnacle-server images push");
      const pushed = await machine.run(push, CHECKOUT, { NODE_EXTRA_CA_CERTS: certificate });
      expect(pushed).toContain(`${host}${prefix}/binnacle/operator:${VERSION}`);
    }
  });

  test("[SP3115] the bill of materials is the same when it is made again", async () => {
    const page = "docs/operations/supply-chain.md";
    await run(page, "npm run sbom -- binnacle.cdx.json");
    await run(page, "sed -E");
    expect(await run(page, "npm --silent run sbom -- - |")).toBe("");
    expect(JSON.parse(await run(page, "npm --silent run sbom -- -  "))).toMatchObject({ bomFormat: "CycloneDX" });
    expect(await run(page, "node -p")).toMatch(/^sha512-/);
  });

  test("[SP3115] the lines for keys print one of each kind, which the server takes", async () => {
    for (const page of [ONE_MACHINE, "docs/operations/configuration.md"]) {
      const signing = (await run(page, "openssl rand")).trim();
      const sealing = (await run(page, "echo")).trim();
      const env = { ...settings, BINNACLE_SECRET_KEY: signing, BINNACLE_VAULT_KEYS: sealing };
      expect(await machine.run(commandOf(UPGRADE, "npm run upgrade-check"), CHECKOUT, env)).toContain("Ready.");
    }
  });
});
