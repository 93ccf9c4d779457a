import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { COMPOSE, COMPOSE_TLS, GUIDE, PAGE, type Variables } from "../rules/one-machine.ts";
import { blocksOf, commandOf, readPage } from "../world/guide.ts";
import { VERSION } from "./layout.ts";
import { CHECKOUT, missingForDocker, OwnMachine } from "./own-machine.ts";

const FOLDER = `${CHECKOUT}/deploy/compose`;
const HOST = new URL(COMPOSE["BINNACLE_PUBLIC_URL"] ?? "").host;
const CLIENT = "203.0.113.7";
const PATIENT = { timeout: 90_000, interval: 500 };

const missing = missingForDocker();
if (missing) process.stderr.write(`SKIPPED: Docker Compose is not started, because ${missing}.\n`);

const UP = commandOf(PAGE, "docker compose up");

describe.skipIf(missing !== null)("the Compose file, by the lines of the guide", { timeout: 600_000 }, () => {
  let machine: OwnMachine;

  /** Starts what the variables say, beside the Compose file, and waits until it serves. */
  const up = async (variables: Variables, probe: () => Promise<string>) => {
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    await machine.write(`${FOLDER}/.env`, lines.join(""));
    await machine.run(UP, FOLDER);
    await vi.waitFor(probe, PATIENT);
  };
  /** As the proxy of the machine passes on what somebody elsewhere asks. */
  const ask = (path: string, ...options: string[]) => {
    const proxy = `-H 'Host: ${HOST}' -H 'X-Forwarded-For: ${CLIENT}'`;
    return machine.run(`curl -sSf ${proxy} ${options.join(" ")} 'http://127.0.0.1:8080${path}'`);
  };
  const ready = () => ask("/readyz");
  const signIn = async () => {
    const { BINNACLE_ADMIN_EMAIL: name, BINNACLE_ADMIN_PASSWORD: password } = COMPOSE;
    const form = [`--data-urlencode 'username=${name}'`, `--data-urlencode 'password=${password}'`];
    const { access_token: token } = JSON.parse(await ask("/api/v1/login", ...form));
    return `-H 'Authorization: Bearer ${token}'`;
  };
  const organizations = async (authorization: string): Promise<string[]> =>
    JSON.parse(await ask("/api/v1/orgs", authorization)).data.map((one: { name: string }) => one.name);
  const createOrganization = (authorization: string, name: string) =>
    ask("/api/v1/orgs", authorization, "-H 'Content-Type: application/json'", `-d '{"name": "${name}"}'`);

  beforeAll(async () => {
    machine = await OwnMachine.start();
    await machine.run(commandOf(PAGE, "skopeo copy"), CHECKOUT);
    await up(COMPOSE, ready);
  }, 600_000);
  afterAll(() => machine?.stop());

  test("[IS4113] the first administrator signs in through the proxy, and the address of the client is on record", async () => {
    const authorization = await signIn();
    const { data } = JSON.parse(await ask("/api/v1/sessions", authorization));
    expect(data[0]).toMatchObject({ source_address: CLIENT });
  });

  test("[IS4113] it serves again after its database was started anew, with what was stored", async () => {
    const authorization = await signIn();
    await createOrganization(authorization, "Kept");
    await machine.run("docker compose restart postgres", FOLDER);
    await vi.waitFor(async () => expect(await organizations(authorization)).toContain("Kept"), PATIENT);
  });

  test("[IS4113] it serves the image of the operator", async () => {
    const tags = await ask("/v2/binnacle/operator/tags/list");
    expect(JSON.parse(tags).tags).toContain(VERSION);
  });

  test("[IS4114] the guide's line for cron writes a backup, and its lines for a restore bring it back", async () => {
    await createOrganization(await signIn(), "Saved");
    // cron takes a percent sign for the end of the line.
    const [, , , , , ...backup] = commandOf(PAGE, "30 2 ", "text").replaceAll("\\%", "%").split(" ");
    await machine.run(backup.join(" "));
    await createOrganization(await signIn(), "Lost");
    const [restore = ""] = blocksOf(readPage("docs/operations/backup.md"), "sh").filter((block) =>
      block.includes("docker compose"),
    );
    await machine.run(restore.replace("binnacle-1.gz", "binnacle-$(date +%u).gz"));
    await vi.waitFor(ready, PATIENT);
    const names = await organizations(await signIn());
    expect([names.includes("Saved"), names.includes("Lost")]).toEqual([true, false]);
  });

  test("[IS4113] a stop ends the server and its database in time and without an error", async () => {
    const began = performance.now();
    await machine.run("docker compose stop", FOLDER);
    onTestFinished(() => up(COMPOSE, ready));
    expect(performance.now() - began).toBeLessThan(90_000);
    const states = await machine.run("docker ps --all --format '{{.Image}} {{.Status}}'");
    expect(states).toMatch(/^binnacle\/registry:\S+ Exited \(0\)/m);
    expect(states).toMatch(/^postgres:\S+ Exited \(0\)/m);
  });

  test("[IS4115] it serves HTTPS with the certificate that the guide's hook puts into place", async () => {
    const subject = `-subj /CN=${HOST} -addext subjectAltName=DNS:${HOST}`;
    const files = "-keyout privkey.pem -out fullchain.pem";
    await machine.run(`mkdir /opt/issued && echo 127.0.0.1 ${HOST} >>/etc/hosts`);
    await machine.run(`openssl req -x509 -newkey rsa:2048 -nodes -days 2 ${subject} ${files}`, "/opt/issued");
    const [hook = ""] = blocksOf(GUIDE, "sh").filter((block) => block.includes("certbot"));
    // Nobody issues certificates here.
    const [install = ""] = hook.split("certbot certonly");
    await machine.run(install.replace("--owner binnacle", "--owner 65532"));
    await machine.run("RENEWED_LINEAGE=/opt/issued /usr/local/sbin/binnacle-certificate");
    onTestFinished(() => up(COMPOSE, ready));
    const authority = "/opt/issued/fullchain.pem";
    const trusting = { CURL_CA_BUNDLE: authority, SSL_CERT_FILE: authority };
    const check = commandOf(PAGE, "curl --fail");
    await up({ ...COMPOSE, ...COMPOSE_TLS }, () => machine.run(check, FOLDER, trusting));
    const page = "docs/install/air-gapped.md";
    const tags = await machine.run(commandOf(page, "skopeo list-tags"), FOLDER, trusting);
    expect(JSON.parse(tags).Tags).toContain(VERSION);
    await machine.run(commandOf(page, "helm pull"), FOLDER, trusting);
    expect(await machine.run("ls", FOLDER)).toContain(`binnacle-operator-${VERSION}.tgz`);
  });
});
