import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { SETTINGS } from "../../packages/server/src/config/variables.ts";
import { type Config, parseConfig } from "../../packages/server/src/config.ts";
import { REGISTRY, runConfigOf } from "../../scripts/images/definitions.ts";
import { COMPOSE, COMPOSE_TLS, GUIDE, SYSTEMD, SYSTEMD_TLS, type Variables } from "./one-machine.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
/** Where the guide has the checkout. */
const WORKING = "/opt/binnacle";
const { version } = JSON.parse(read("package.json"));

const secondsOf = (text = "") => Number(/^(\d+)s?$/.exec(text)?.[1]);

/** A process with all roles stops its worker, its hub and its server one after the other. */
function longestStopSeconds({ drainDelayMs, drainTimeoutMs, tofuGraceMs }: Config): number {
  return (drainDelayMs + Math.max(drainTimeoutMs, tofuGraceMs) + 2 * drainTimeoutMs) / 1000;
}

describe("the Compose file", () => {
  const { services, networks } = parse(read("deploy/compose/compose.yaml"));
  const { binnacle } = services;
  const image = runConfigOf(REGISTRY, { version, revision: null });

  /** Fills in variables as Compose does; a missing one that is required is an error. */
  const filled = (text: string, env: Variables) =>
    text.replace(/\$\{(\w+)(?:(:?)([?-])([^}]*))?\}/g, (_, name, colon, operator, fallback) => {
      const value = env[name];
      if (value !== undefined && !(colon && value === "")) return value;
      if (operator === "?") throw new Error(`${name} is required`);
      return fallback ?? "";
    });
  const environmentWith = (env: Variables): Variables => ({
    ...Object.fromEntries(image.Env.map((line) => line.split(/=(.*)/s).slice(0, 2))),
    ...Object.fromEntries(
      Object.entries(binnacle.environment).map(([name, value]) => [name, filled(String(value), env)]),
    ),
  });

  test("[IS4109] Compose runs the image that carries all others in this version, on its port and its data folder", () => {
    expect(binnacle.image).toBe(`binnacle/${REGISTRY.name}:${version}`);
    expect(GUIDE).toContain(`oci:build/images/${REGISTRY.name}:${version} docker-daemon:${binnacle.image}`);
    const config = parseConfig(environmentWith(COMPOSE));
    expect(config).toMatchObject({ environment: "production", host: "0.0.0.0", imagesDir: "/images" });
    expect(filled(binnacle.ports[0], {})).toBe(`127.0.0.1:8080:${config.port}`);
    expect(image.ExposedPorts).toHaveProperty([`${config.port}/tcp`]);
    expect(binnacle.volumes[0]).toBe(`binnacle:${config.dataDir}`);
  });

  test("[IS4109] Compose trusts a proxy of its machine, which comes through the gateway of its network", () => {
    const [{ gateway }] = networks.default.ipam.config;
    expect(parseConfig(environmentWith(COMPOSE))).toMatchObject({ trustedProxies: [gateway], tlsCertFile: null });
  });

  test("[IS4109] with the certificate of the guide Compose listens for everybody and trusts no proxy", () => {
    const env = { ...COMPOSE, ...COMPOSE_TLS };
    const config = parseConfig(environmentWith(env));
    expect(config.trustedProxies).toEqual([]);
    const [, folder] = filled(binnacle.volumes[1], env).split(":");
    expect([config.tlsCertFile, config.tlsKeyFile]).toEqual([`${folder}/fullchain.pem`, `${folder}/privkey.pem`]);
    expect(filled(binnacle.ports[0], env)).toBe(`0.0.0.0:443:${config.port}`);
  });

  test("[IS4109] every variable of the guide is used, and each that has no default is in the guide", () => {
    const text = read("deploy/compose/compose.yaml");
    const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    expect([...used].sort()).toEqual(Object.keys({ ...COMPOSE, ...COMPOSE_TLS }).sort());
    for (const name of Object.keys(COMPOSE))
      expect(() => environmentWith({ ...COMPOSE, [name]: "" }), name).toThrow(`${name} is required`);
  });

  test("[IS4111] Compose gives the server longer to stop than its longest stop", () => {
    const seconds = secondsOf(binnacle.stop_grace_period);
    expect(seconds).toBeGreaterThan(longestStopSeconds(parseConfig(environmentWith(COMPOSE))));
    expect(GUIDE.match(/up to \d+ seconds/g)).toEqual(Array(2).fill(`up to ${seconds} seconds`));
  });
});

describe("the units of systemd", () => {
  /** The directives of a unit; one that is given twice would hide the other. */
  function unit(name: string): Variables {
    const lines = read(`deploy/systemd/${name}`).split("\n");
    const directives = lines.filter((line) => /^\w+=/.test(line)).map((line) => line.split(/=(.*)/s).slice(0, 2));
    expect(new Set(directives.map(([key]) => key)).size).toBe(directives.length);
    return Object.fromEntries(directives);
  }
  const [server, backup] = [unit("binnacle.service"), unit("binnacle-backup.service")];
  const environmentOf = ({ Environment = "" }: Variables, file: Variables): Variables => ({
    ...Object.fromEntries(Environment.split(" ").map((one) => one.split(/=(.*)/s).slice(0, 2))),
    ...file,
  });
  const { DATABASE_URL: _, ...others } = SYSTEMD;
  const EMBEDDED = { ...others, BINNACLE_DATABASE: "embedded" };
  const { BINNACLE_TRUSTED_PROXIES: __, ...direct } = SYSTEMD;

  test.each([
    ["PostgreSQL and a proxy", SYSTEMD, { database: "external", port: 8080, trustedProxies: ["127.0.0.1"] }],
    ["the built-in database and a proxy", EMBEDDED, { database: "embedded", host: "127.0.0.1" }],
    ["a certificate", { ...direct, ...SYSTEMD_TLS }, { port: 443, tlsKeyFile: "/etc/binnacle/tls/privkey.pem" }],
  ])("[IS4110] [SP3110] the server takes the variables of the guide with %s", (_name, file, expected) => {
    const config = parseConfig(environmentOf(server, file));
    expect(config).toMatchObject({ environment: "production", dataDir: "/var/lib/binnacle", ...expected });
    expect(`/var/lib/${server["StateDirectory"]}`).toBe(config.dataDir);
    // Ports below 1024 take a capability.
    if (config.port < 1024) expect(server["AmbientCapabilities"]).toBe("CAP_NET_BIND_SERVICE");
    expect(GUIDE).toContain(`\`${server["EnvironmentFile"]}\``);
  });

  test("[IS4111] the server gets the signal alone and longer to stop than its longest stop, as in the guide", () => {
    const seconds = secondsOf(server["TimeoutStopSec"]);
    expect(seconds).toBeGreaterThan(longestStopSeconds(parseConfig(environmentOf(server, SYSTEMD))));
    expect(GUIDE).toContain(`\`SIGTERM\` to the server alone, ${seconds} seconds`);
    expect([server["KillMode"], backup["KillMode"]]).toEqual(["mixed", "mixed"]);
  });

  test("[IS4112] a backup has the user, the variables and the data folder of the server, and a folder of its own", () => {
    for (const name of ["User", "Environment", "EnvironmentFile", "WorkingDirectory"])
      expect(backup[name]).toBe(server[name]);
    const [, folder] =
      / backup (\/var\/lib\/\S+)\/binnacle-\{time\}\.gz --keep 14$/.exec(backup["ExecStart"] ?? "") ?? [];
    expect(backup["StateDirectory"]?.split(" ").map((name) => `/var/lib/${name}`)).toEqual([
      environmentOf(server, {})[SETTINGS.dataDir.name],
      folder,
    ]);
    expect(GUIDE).toContain(`keeps 14 files in \`${folder}\``);
    expect(unit("binnacle-backup.timer")["OnCalendar"]).toBe("*-*-* 02:30:00");
  });

  test("[IS4110] [IS4112] what the units run is in a checkout", () => {
    for (const { ExecStart = "", WorkingDirectory } of [server, backup]) {
      const [node = "", ...words] = ExecStart.split(" ");
      expect(node.replace(`${WORKING}/`, "")).toBe("node_modules/.bin/node");
      expect(WorkingDirectory).toBe(WORKING);
      expect(existsSync(join(ROOT, words.find((word) => word.endsWith(".ts")) ?? "-"))).toBe(true);
    }
  });

  const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
  test.skipIf(!hasSystemd)("[IS4110] [IS4112] systemd finds no fault in the units", () => {
    const folder = mkdtempSync(join(tmpdir(), "binnacle-units-"));
    const names = ["binnacle.service", "binnacle-backup.service", "binnacle-backup.timer"];
    for (const name of names)
      writeFileSync(join(folder, name), read(`deploy/systemd/${name}`).replaceAll(`${WORKING}/`, ROOT));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...names], { cwd: folder });
    rmSync(folder, { recursive: true });
    expect([
      status,
      stderr
        .toString()
        .split("\n")
        .filter((line) => line.includes("binnacle")),
    ]).toEqual([0, []]);
  });
});
