import { BlockList, isIP } from "node:net";
import { safeText } from "@binnacle/contract";
import { type ConfigOf, type Env, readConfig } from "@binnacle/process";
import { type Environment, SECRETS, SETTINGS } from "./config/variables.ts";

export { type Environment, VARIABLES } from "./config/variables.ts";

/**
 * The whole configuration, parsed once at the start and typed by its variables. Secrets are separate, so that the rest can
 * be logged.
 */
export type Config = ConfigOf<typeof SETTINGS, typeof SECRETS>;

/** Outside `local` the keys are required. In `local` the first start generates them and stores them in the data folder. */
export type Secrets = Config["secrets"];

export const LOCAL_ADMIN = { username: "admin", email: "admin@binnacle.local", password: "binnacle" } as const;

/** A secret that consists only of words from manuals and examples is public. */
const WELL_KNOWN = /^(change[-_ ]?me|secret|password|passwd|default|example|admin|binnacle|key|[\d\W_])+$/i;

export const isWellKnown = (secret: string) => WELL_KNOWN.test(secret);

/** Throws ConfigProblems with all problems, not only the first. */
export function parseConfig(env: Env): Config {
  return readConfig(
    {
      program: "Binnacle",
      settings: SETTINGS,
      secrets: SECRETS,
      shown: safeText,
      clashes: (settings, secrets) => {
        const { environment } = settings;
        if (!environment) return [];
        if (environment === "local") return [...exposedLocal(settings), ...tlsClashes(settings)];
        return [
          ...tlsClashes(settings),
          ...missingOutsideLocal(env, environment, settings.database === "embedded"),
          ...embeddedClashes(settings, secrets),
          ...wellKnownSecrets(secrets),
          ...predictableKeys(secrets),
          ...insecureAddress(settings, environment),
        ];
      },
    },
    env,
  );
}

/** A process with the hub role alone has its own port, because it may run beside the API on one machine. */
export function listeningPort({ roles, port, hubPort }: Pick<Config, "roles" | "port" | "hubPort">) {
  const isHubAlone = roles.includes("hub") && !roles.includes("api");
  return isHubAlone ? { port: hubPort, variable: SETTINGS.hubPort.name } : { port, variable: SETTINGS.port.name };
}

/**
 * Returns the origin of a listening address. A wildcard is every address of the machine; the one that always works is that
 * of the machine itself.
 */
export function originOf(
  { address, port }: { readonly address: string; readonly port: number },
  scheme: "http" | "https",
): string {
  const reachable = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `${scheme}://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}

/** Returns what the port for requests and operators speaks. `/metrics` on a port of its own is always plain HTTP. */
export const schemeOf = ({ tlsCertFile }: Pick<Config, "tlsCertFile">) => (tlsCertFile === null ? "http" : "https");

/** Returns the address of `/metrics`, or null where it is served with everything else. */
export function metricsAddress({ environment, host, metricsHost, metricsPort }: Config) {
  return environment === "local" ? null : { host: metricsHost ?? host, port: metricsPort };
}

function tlsClashes({ tlsCertFile, tlsKeyFile, publicUrl }: Partial<Config>): string[] {
  const { tlsCertFile: cert, tlsKeyFile: key } = SETTINGS;
  if (tlsCertFile && !tlsKeyFile) return [`${key.name} is required where ${cert.name} is given`];
  if (tlsKeyFile && !tlsCertFile) return [`${cert.name} is required where ${key.name} is given`];
  if (!tlsCertFile || !publicUrl || publicUrl.startsWith("https://")) return [];
  return [
    `${SETTINGS.publicUrl.name} must begin with https:// where ${cert.name} is given, because the port speaks no plain HTTP`,
  ];
}

const REQUIRED_OUTSIDE_LOCAL = [
  SECRETS.databaseUrl,
  SECRETS.signingKey,
  SECRETS.vaultKeys,
  SETTINGS.adminEmail,
  SECRETS.adminPassword,
];

function missingOutsideLocal(env: Env, environment: Environment, isEmbedded: boolean): string[] {
  const required = REQUIRED_OUTSIDE_LOCAL.filter((variable) => !(isEmbedded && variable === SECRETS.databaseUrl));
  return required
    .filter(({ name }) => !env[name])
    .map(({ name }) => `${name} is required where BINNACLE_ENVIRONMENT is ${environment}`);
}

/** The embedded database has one process, and that one has to do everything. */
function embeddedClashes({ database, roles = [] }: Partial<Config>, { databaseUrl }: Partial<Secrets>): string[] {
  if (database !== "embedded") return [];
  const { name } = SETTINGS.database;
  return [
    ...(databaseUrl
      ? [`${SECRETS.databaseUrl.name} is given although ${name} is embedded; remove one of the two`]
      : []),
    ...(roles.length < 3 ? [`${SETTINGS.roles.name} must be api,hub,worker where ${name} is embedded`] : []),
  ];
}

function wellKnownSecrets(secrets: Partial<Secrets>): string[] {
  return (["signingKey", "adminPassword"] as const)
    .filter((key) => isWellKnown(secrets[key] ?? ""))
    .map((key) => `${SECRETS[key].name} is a well-known default; choose a secret of your own`);
}

/** A well-known default is reported already, so it is skipped here. */
function predictableKeys({ signingKey, vaultKeys }: Partial<Secrets>): string[] {
  const signing = signingKey && !isWellKnown(signingKey) ? predictabilityOfText(signingKey) : null;
  return [
    ...(signing ? [`${SECRETS.signingKey.name} ${signing}; make one with "openssl rand -base64 48"`] : []),
    ...(vaultKeys ?? []).flatMap(({ key }, index) => {
      const reason = predictabilityOf(key);
      if (!reason) return [];
      // The message has the number of the entry, because in a mistyped one even the id may be key material.
      return [`${SECRETS.vaultKeys.name}: key ${index + 1} ${reason}; make one with "openssl rand -base64 32"`];
    }),
  ];
}

function insecureAddress(
  { publicUrl, allowInsecurePublicUrl }: Partial<Config>,
  environment: Environment,
): readonly string[] {
  if (publicUrl === undefined || publicUrl?.startsWith("https://") || allowInsecurePublicUrl) return [];
  return [
    `${SETTINGS.publicUrl.name} must begin with https:// where BINNACLE_ENVIRONMENT is ${environment}; set it to the address ` +
      `that people use, or set ${SETTINGS.allowInsecurePublicUrl.name}=true where nobody else can listen`,
  ];
}

/** A local control plane has a superuser with a public password. */
function exposedLocal({ host, allowLocalOnNetwork }: Partial<Config>): readonly string[] {
  if (host === undefined || isLoopback(host) || allowLocalOnNetwork) return [];
  return [
    `${SETTINGS.host.name} must be an address of this machine alone, such as 127.0.0.1, where BINNACLE_ENVIRONMENT is local; ` +
      `use production for a network, or set ${SETTINGS.allowLocalOnNetwork.name}=true where everybody who reaches it may be superuser`,
  ];
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Returns whether only this machine can reach the address. A name other than localhost may resolve to any address. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(address);
  if (family === 0) return /^localhost\.?$/i.test(address);
  return LOOPBACK.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** 32 random bytes have about 30 distinct values; fewer than 20 are practically impossible. */
const DISTINCT_OF_32 = 20;
const MEASURED_BYTES = 32;

/** Returns why a key is not random, or null. The text continues a sentence: "the key …". */
export function predictabilityOf(bytes: Uint8Array): string | null {
  const first = bytes[0];
  if (bytes.every((byte) => byte === first)) return "repeats one byte";
  if (periodOf(bytes) <= bytes.length / 2) return "repeats a pattern";
  if (isCounting(bytes)) return "counts up or down";
  const least = Math.ceil((DISTINCT_OF_32 * Math.min(bytes.length, MEASURED_BYTES)) / MEASURED_BYTES);
  return new Set(bytes).size < least ? "has too few distinct bytes" : null;
}

/** Hexadecimal text is decoded; any other text is checked as characters. */
export function predictabilityOfText(text: string): string | null {
  const isHex = text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text);
  return predictabilityOf(isHex ? Buffer.from(text, "hex") : Buffer.from(text));
}

/** Returns the length of the shortest repeated prefix, by the failure function of Knuth, Morris and Pratt. */
function periodOf(bytes: Uint8Array): number {
  const borders = [0];
  for (let index = 1; index < bytes.length; index++) {
    let border = borders[index - 1] ?? 0;
    while (border > 0 && bytes[index] !== bytes[border]) border = borders[border - 1] ?? 0;
    borders.push(bytes[index] === bytes[border] ? border + 1 : 0);
  }
  return bytes.length - (borders.at(-1) ?? 0);
}

function isCounting(bytes: Uint8Array): boolean {
  const steps = new Set(bytes.slice(1).map((byte, index) => byte - (bytes[index] ?? 0)));
  return steps.size <= 1;
}

/** The sandbox needs the API and the hub in the same process, otherwise nobody could use it. */
export const hasSandbox = ({
  environment,
  sandbox,
  roles,
}: Pick<Config, "environment" | "sandbox" | "roles">): boolean =>
  environment === "local" && sandbox === "on" && roles.includes("api") && roles.includes("hub");
