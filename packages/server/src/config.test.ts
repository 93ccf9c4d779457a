import { randomBytes } from "node:crypto";
import { ConfigProblems } from "@binnacle/process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listeningPort, metricsAddress, parseConfig } from "./config.ts";

const vaultKey = `k1:${randomBytes(32).toString("base64")}`;

const complete = {
  BINNACLE_ENVIRONMENT: "production",
  DATABASE_URL: "postgres://binnacle@db/binnacle",
  BINNACLE_SECRET_KEY: randomBytes(32).toString("base64url"),
  BINNACLE_VAULT_KEYS: vaultKey,
  BINNACLE_PUBLIC_URL: "https://binnacle.example.com",
  BINNACLE_ADMIN_EMAIL: "Root@Example.com",
  BINNACLE_ADMIN_PASSWORD: "correct horse battery staple",
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems;
    throw error;
  }
}

describe("the configuration", () => {
  test("[CF1] a local control plane needs no variables", () => {
    const { secrets, ...settings } = parseConfig({});
    expect(settings).toEqual({
      environment: "local",
      roles: ["api", "hub", "worker"],
      sandbox: "on",
      helm: "helm",
      tofu: null,
      tofuParallel: 4,
      tofuConfigFile: null,
      tofuPluginCache: null,
      tofuGraceMs: 60_000,
      provisioningTimeoutMinutes: 60,
      bootstrapTimeoutMinutes: 20,
      clusterAdminRanges: [],
      host: "127.0.0.1",
      allowLocalOnNetwork: false,
      port: 8080,
      imagesDir: null,
      imageRegistry: null,
      auditRetentionDays: 400,
      hubPort: 8081,
      metricsPort: 9090,
      metricsHost: null,
      tlsCertFile: null,
      tlsKeyFile: null,
      peerUrl: null,
      publicUrl: null,
      allowInsecurePublicUrl: false,
      dataDir: ".data",
      database: "external",
      databasePoolSize: 20,
      adminEmail: null,
      accessTokenMinutes: 30,
      refreshTokenDays: 7,
      projectConfirmSeconds: 120,
      deploymentTimeoutSeconds: 900,
      trustedProxies: [],
      corsOrigins: [],
      chartHosts: [],
      gitHosts: [],
      templateCatalog: null,
      bodyLimitBytes: 1_048_576,
      requestTimeoutMs: 30_000,
      drainDelayMs: 0,
      drainTimeoutMs: 10_000,
      eventStreamsPerUser: 100,
      logLevel: "info",
      tracesEndpoint: null,
      build: null,
    });
    expect(Object.values(secrets)).toEqual([null, null, null, null, null, null]);
  });

  test("[CF1] the configuration has the values of the environment variables", () => {
    const config = parseConfig({
      ...complete,
      BINNACLE_ROLES: "worker",
      BINNACLE_PORT: "0",
      BINNACLE_PUBLIC_URL: "https://binnacle.example.com/",
      BINNACLE_TRUSTED_PROXIES: "10.0.0.0/8, ::1",
      BINNACLE_CORS_ORIGINS: "https://console.example.com,http://localhost:5173/",
      REDIS_URL: "rediss://cache:6380",
    });
    expect(config).toMatchObject({
      environment: "production",
      roles: ["worker"],
      port: 0,
      publicUrl: "https://binnacle.example.com",
      adminEmail: "root@example.com",
      trustedProxies: ["10.0.0.0/8", "::1"],
      corsOrigins: ["https://console.example.com", "http://localhost:5173"],
      secrets: { redisUrl: "rediss://cache:6380", vaultKeys: [{ id: "k1" }] },
    });
  });

  test("[CF299] the built-in database runs outside local where it is asked for, in one process with all roles", () => {
    const { DATABASE_URL, ...without } = complete;
    expect(() => parseConfig(without)).toThrow("DATABASE_URL is required");
    const embedded = { ...without, BINNACLE_DATABASE: "embedded" };
    expect(parseConfig(embedded)).toMatchObject({ environment: "production", secrets: { databaseUrl: null } });
    expect(() => parseConfig({ ...embedded, DATABASE_URL })).toThrow("remove one of the two");
    expect(() => parseConfig({ ...embedded, BINNACLE_ROLES: "api" })).toThrow("must be api,hub,worker");
  });

  test.each([
    ["api,hub,worker", 1, "BINNACLE_PORT"],
    ["worker", 1, "BINNACLE_PORT"],
    ["hub", 2, "BINNACLE_HUB_PORT"],
    ["hub,worker", 2, "BINNACLE_HUB_PORT"],
  ])("[CF12] a process with the roles %s listens on port %i", (roles, port, variable) => {
    const config = parseConfig({ BINNACLE_ROLES: roles, BINNACLE_PORT: "1", BINNACLE_HUB_PORT: "2" });
    expect(listeningPort(config)).toEqual({ port, variable });
  });

  test("[CF2] an invalid configuration is refused with all mistakes at once", () => {
    const problems = problemsOf({
      BINNACLE_PORT: "eighty",
      BINNACLE_ENVIRONMENT: "prod",
      BINNACLE_PROT: "80",
      BINNACLE_SECRET_KEY: "short",
    });
    expect(problems).toEqual([
      "BINNACLE_PROT is not a variable of Binnacle",
      'BINNACLE_ENVIRONMENT must be one of local, staging, production (it is "prod")',
      'BINNACLE_PORT must be a whole number from 0 to 65535 (it is "eighty")',
      "BINNACLE_SECRET_KEY must have at least 32 characters",
    ]);
  });

  test.each([
    ["BINNACLE_ROLES", "api,cook"],
    ["BINNACLE_ROLES", ","],
    ["BINNACLE_HOST", " "],
    ["BINNACLE_PORT", "65536"],
    ["BINNACLE_METRICS_PORT", "metrics"],
    ["BINNACLE_ALLOW_LOCAL_ON_NETWORK", "yes"],
    ["BINNACLE_ALLOW_INSECURE_PUBLIC_URL", "1"],
    ["BINNACLE_PUBLIC_URL", "binnacle.example.com"],
    ["BINNACLE_DATABASE_POOL_SIZE", "2"],
    ["BINNACLE_ADMIN_EMAIL", "root"],
    ["BINNACLE_ACCESS_TOKEN_MINUTES", "0"],
    ["BINNACLE_REFRESH_TOKEN_DAYS", "366"],
    ["BINNACLE_TRUSTED_PROXIES", "10.0.0.1,proxy"],
    ["BINNACLE_TRUSTED_PROXIES", "10.0.0.0/33"],
    ["BINNACLE_TRUSTED_PROXIES", "300.0.0.1"],
    ["BINNACLE_TRUSTED_PROXIES", "::1/129"],
    ["BINNACLE_CORS_ORIGINS", "*"],
    ["BINNACLE_CORS_ORIGINS", "https://console.example.com/app"],
    ["BINNACLE_CORS_ORIGINS", "null"],
    ["BINNACLE_BODY_LIMIT_BYTES", "1023"],
    ["BINNACLE_REQUEST_TIMEOUT_MS", "999"],
    ["BINNACLE_DRAIN_TIMEOUT_MS", "600001"],
    ["BINNACLE_LOG_LEVEL", "loud"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
  ])("[CF9] the configuration %s=%j is refused, and the message shows the value", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name} must `)]);
    expect(problemsOf({ [name]: value })[0]).toContain(JSON.stringify(value));
  });

  test.each([
    ["DATABASE_URL", "mysql://user:hush@db"],
    ["REDIS_URL", "http://:hush@cache"],
    ["BINNACLE_SECRET_KEY", "hush"],
    ["BINNACLE_VAULT_KEYS", "k1:hush"],
    ["BINNACLE_ADMIN_PASSWORD", "hush"],
    ["BINNACLE_PUBLIC_URL", "https://robot:hush@binnacle.example.com"],
    ["BINNACLE_TEMPLATE_REGISTRY", "ftp://robot:hush@templates"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://robot:hush@collector:4318"],
  ])("[CF3] a malformed %s is refused without showing its value", (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toEqual([expect.stringContaining(name)]);
    expect(problems.join()).not.toContain("hush");
  });

  test("[CF3] a secret is never shown, whatever it is and whatever else is wrong", () => {
    const secrets = [
      "DATABASE_URL",
      "REDIS_URL",
      "BINNACLE_SECRET_KEY",
      "BINNACLE_VAULT_KEYS",
      "BINNACLE_ADMIN_PASSWORD",
    ];
    const secret = fc.string({ minLength: 12, unit: fc.constantFrom("Q", "X", "7", "8", ":", "/", "@") });
    fc.assert(
      fc.property(
        fc.constantFrom(...secrets),
        secret,
        fc.constantFrom("local", "staging", "?"),
        (name, value, environment) => {
          const problems = problemsOf({ [name]: value, BINNACLE_ENVIRONMENT: environment });
          expect(problems.join()).not.toContain(value);
        },
      ),
    );
  });
});

describe.each(["staging", "production"])("the configuration in %s", (environment) => {
  const env = { ...complete, BINNACLE_ENVIRONMENT: environment };

  test("[CF7] staging and production need a database, two keys and an administrator, and nothing more", () => {
    expect(problemsOf(env)).toEqual([]);
  });

  test("[CF7] staging and production are refused with the names of all missing variables", () => {
    const nothing = { BINNACLE_ENVIRONMENT: environment, BINNACLE_PUBLIC_URL: "https://binnacle.example.com" };
    expect(problemsOf(nothing)).toEqual(
      [
        "DATABASE_URL",
        "BINNACLE_SECRET_KEY",
        "BINNACLE_VAULT_KEYS",
        "BINNACLE_ADMIN_EMAIL",
        "BINNACLE_ADMIN_PASSWORD",
      ].map((name) => `${name} is required where BINNACLE_ENVIRONMENT is ${environment}`),
    );
  });

  test("[CF7] a malformed secret is reported as malformed and not as missing", () => {
    expect(problemsOf({ ...env, BINNACLE_SECRET_KEY: "short" })).toEqual([
      "BINNACLE_SECRET_KEY must have at least 32 characters",
    ]);
  });

  test.each([
    ["BINNACLE_ADMIN_PASSWORD", "binnacle"],
    ["BINNACLE_ADMIN_PASSWORD", "Password123!"],
    ["BINNACLE_ADMIN_PASSWORD", "change-me-2026"],
    ["BINNACLE_ADMIN_PASSWORD", "12345678"],
    ["BINNACLE_SECRET_KEY", "changeme".repeat(4)],
    ["BINNACLE_SECRET_KEY", "binnacle-secret-key-binnacle-secret-key"],
    ["BINNACLE_SECRET_KEY", "0".repeat(32)],
  ])("[CF8] a %s of well-known words is refused in staging and production", (name, value) => {
    const problems = problemsOf({ ...env, [name]: value });
    expect(problems).toEqual([`${name} is a well-known default; choose a secret of your own`]);
    expect(problemsOf({ [name]: value })).toEqual([]);
  });

  const zeros = Buffer.alloc(32).toString("base64");
  test("[CF13] keys that are not random are refused in staging and production, each with what to do", () => {
    const keys = {
      BINNACLE_SECRET_KEY: "abcdefgh-ABCDEFGH-".repeat(2),
      BINNACLE_VAULT_KEYS: `${vaultKey},old:${zeros}`,
    };
    expect(problemsOf({ ...env, ...keys })).toEqual([
      'BINNACLE_SECRET_KEY repeats a pattern; make one with "openssl rand -base64 48"',
      'BINNACLE_VAULT_KEYS: key 2 repeats one byte; make one with "openssl rand -base64 32"',
    ]);
    expect(problemsOf(keys)).toEqual([]);
  });

  test.each(["http://binnacle.example.com", undefined])(
    "[CF14] the public address %s is refused in staging and production unless that is allowed",
    (address) => {
      const { BINNACLE_PUBLIC_URL: _, ...others } = env;
      const insecure = address === undefined ? others : { ...others, BINNACLE_PUBLIC_URL: address };
      expect(problemsOf(insecure)).toEqual([
        `BINNACLE_PUBLIC_URL must begin with https:// where BINNACLE_ENVIRONMENT is ${environment}; set it to the address that ` +
          "people use, or set BINNACLE_ALLOW_INSECURE_PUBLIC_URL=true where nobody else can listen",
      ]);
      expect(problemsOf({ ...insecure, BINNACLE_ALLOW_INSECURE_PUBLIC_URL: "false" })).toHaveLength(1);
      expect(problemsOf({ ...insecure, BINNACLE_ALLOW_INSECURE_PUBLIC_URL: "true" })).toEqual([]);
    },
  );

  test("[CF4101] a certificate is refused without its key, a key without its certificate, and both with an http:// public address", () => {
    const [cert, key] = [{ BINNACLE_TLS_CERT_FILE: "/tls.crt" }, { BINNACLE_TLS_KEY_FILE: "/tls.key" }];
    expect(problemsOf({ ...env, ...cert, ...key })).toEqual([]);
    expect(problemsOf({ ...env, ...cert })).toEqual([
      "BINNACLE_TLS_KEY_FILE is required where BINNACLE_TLS_CERT_FILE is given",
    ]);
    expect(problemsOf({ ...env, ...key })).toEqual([
      "BINNACLE_TLS_CERT_FILE is required where BINNACLE_TLS_KEY_FILE is given",
    ]);
    const insecure = { BINNACLE_PUBLIC_URL: "http://b.example.com", BINNACLE_ALLOW_INSECURE_PUBLIC_URL: "true" };
    expect(problemsOf({ ...env, ...cert, ...key, ...insecure })).toEqual([
      "BINNACLE_PUBLIC_URL must begin with https:// where BINNACLE_TLS_CERT_FILE is given, because the port speaks no plain HTTP",
    ]);
  });

  test("[CF2] [CF14] all unsafe settings of staging and production are reported at once", () => {
    const unsafe = {
      ...env,
      BINNACLE_ADMIN_PASSWORD: "binnacle",
      BINNACLE_SECRET_KEY: "a".repeat(40),
      BINNACLE_VAULT_KEYS: `k1:${zeros}`,
      BINNACLE_PUBLIC_URL: "http://binnacle.example.com",
    };
    expect(problemsOf(unsafe).map((problem) => problem.split(/[ :]/)[0])).toEqual([
      "BINNACLE_ADMIN_PASSWORD",
      "BINNACLE_SECRET_KEY",
      "BINNACLE_VAULT_KEYS",
      "BINNACLE_PUBLIC_URL",
    ]);
  });

  test("[CF15] staging and production may listen on any address", () => {
    expect(problemsOf({ ...env, BINNACLE_HOST: "0.0.0.0" })).toEqual([]);
  });

  test("[OP18] staging and production have /metrics on a port of their own", () => {
    expect(metricsAddress(parseConfig(env))).toEqual({ host: "127.0.0.1", port: 9090 });
    const other = {
      ...env,
      BINNACLE_HOST: "0.0.0.0",
      BINNACLE_METRICS_HOST: "10.0.0.7",
      BINNACLE_METRICS_PORT: "9100",
    };
    expect(metricsAddress(parseConfig(other))).toEqual({ host: "10.0.0.7", port: 9100 });
  });
});

describe("the configuration in local", () => {
  test.each(["0.0.0.0", "::", "192.168.1.20", "binnacle.example.com"])(
    "[CF15] local refuses to listen on %s unless that is allowed",
    (host) => {
      expect(problemsOf({ BINNACLE_HOST: host })).toEqual([
        "BINNACLE_HOST must be an address of this machine alone, such as 127.0.0.1, where BINNACLE_ENVIRONMENT is local; use " +
          "production for a network, or set BINNACLE_ALLOW_LOCAL_ON_NETWORK=true where everybody who reaches it may be superuser",
      ]);
      expect(problemsOf({ BINNACLE_HOST: host, BINNACLE_ALLOW_LOCAL_ON_NETWORK: "true" })).toEqual([]);
    },
  );

  test("[OP18] local has /metrics on the port of the API", () => {
    expect(metricsAddress(parseConfig({ BINNACLE_METRICS_PORT: "9100" }))).toBeNull();
  });
});
