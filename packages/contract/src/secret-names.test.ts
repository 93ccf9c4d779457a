import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSecretPath } from "./app/component.ts";
import { isSecretName, likelySecrets, withHiddenSecrets } from "./secret-names.ts";

describe("the names of secrets", () => {
  test.each([
    "password",
    "adminPassword",
    "DB_PASSWORD",
    "postgres-password",
    "dbpassword",
    "passwd",
    "passphrase",
    "pass",
    "token",
    "authToken",
    "GITHUB_TOKEN",
    "secret",
    "clientSecret",
    "key",
    "apiKey",
    "apikey",
    "API_KEY",
    "secretKey",
    "AWSAccessKey",
    "dsn",
    "SENTRY_DSN",
    "credentials",
    "connectionString",
    "privateKey",
    "passwords",
    "apiKeys",
    "password1",
    "passwordBase64",
    "tokenValue",
    "secretString",
    "privateKeyPem",
    "credentials_json",
    "adminPasswordHash",
    "userpass",
    "sshkey",
    "sslkey",
    "masterkey",
    "hmackey",
    "servicekey",
    "existingPassword",
    "createPassword",
    "publicToken",
    "noAuthToken",
    "enableToken",
    "userSecret",
    "createSecretValue",
    "db.password",
  ])("[SV11] %s is the name of a secret", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each([
    "user",
    "monkey",
    "keyspace",
    "existingSecret",
    "existingSecretPasswordKey",
    "secretName",
    "imagePullSecret",
    "publicKey",
    "passwordFile",
    "tokenUrl",
    "compass",
    "keycloak",
    "keyName",
    "keySize",
    "tokenizer",
    "tokenExpiration",
    "tokenTtl",
    "maxTokens",
    "tokensPerMinute",
    "passwordPolicies",
    "passwordMinLength",
    "usePasswordFiles",
    "pullSecret",
    "imagePullSecrets",
    "existingsecret",
    "createSecret",
    "secretKeyRef",
    "secretProviderClass",
    "secretAnnotations",
    "topologyKey",
    "authorizedKeys",
    "serviceAccountName",
    "bypass",
    "author",
    "",
  ])("[SV11] %s is not the name of a secret", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe("the values of a chart that are most likely secrets", () => {
  const paths = (values: Record<string, unknown>) =>
    likelySecrets(values, isSecretPath).flatMap(({ path, canBeSealed }) => (canBeSealed ? [path] : []));

  test("[SV11] likely secrets in values are texts with such a name, a private key, and an address with a password", () => {
    const values = {
      auth: { password: "s3cret", user: "app", token: "" },
      replicas: 2,
      database: { url: "postgres://app:s3cret@db/app", host: "https://db.example.com:5432/a@b" },
      tls: { cert: "-----BEGIN CERTIFICATE-----", pem: "-----BEGIN RSA PRIVATE KEY-----\nMII" },
    };
    expect(paths(values)).toEqual(["auth.password", "database.url", "tls.pem"]);
  });

  test("[SV11] texts below the name of a secret are likely secrets, and what tells about it is not", () => {
    const values = {
      password: { value: "x", length: "12" },
      token: { data: "x", expiration: "1h", issuer: "binnacle" },
      secrets: { FOO: "x", API_KEY: "x" },
      secret: { create: "true", name: "db", annotations: { team: "a" }, stringData: { foo: "x" } },
      credentials: { username: "app", existingSecret: "db" },
      existing: { password: "x" },
      mail: { existingSecret: "mail", passwordKey: "password", apiKey: "x" },
      passwordUpdateJob: { image: "busybox" },
    };
    expect(paths(values)).toEqual([
      "password.value",
      "token.data",
      "secrets.FOO",
      "secrets.API_KEY",
      "secret.stringData.foo",
      "existing.password",
      "mail.apiKey",
    ]);
  });

  test.each([
    ["a JWT", `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.sig`],
    ["an AWS key", "AKIAIOSFODNN7EXAMPLE"],
    ["a bearer token", "Bearer 0123456789abcdefghij"],
    ["a connection string", "Server=db;Password=hunter2;"],
    ["a variable of a container", "- name: DB_PASSWORD\n  value: hunter2\n"],
    ["a webhook of Slack", `https://hooks.slack.com/services/T0001/B0002/${"a1".repeat(12)}`],
    ["a registry login", '{"auths":{"r.example.com":{"auth":"dXNlcjpwYXNz"}}}'],
  ])("[SV11] %s is a likely secret under any name", (_, text) => {
    expect(paths({ config: { text } })).toEqual(["config.text"]);
  });

  test("[SV11] names and keys of Secrets, switches, and what a chart copies to Kubernetes are not likely secrets", () => {
    const values = {
      existingSecret: "db",
      auth: {
        existingSecret: { name: "db", key: "password" },
        secretKeyRef: { name: "db", key: "password" },
        secretKeys: { adminPasswordKey: "admin-password" },
        password: "",
        usePassword: "true",
      },
      admin: { existingSecret: "grafana", userKey: "admin-user", passwordKey: "admin-password" },
      ingress: { annotations: { "nginx.ingress.kubernetes.io/auth-secret": "basic-auth", "auth-secret": "x" } },
      imagePullSecrets: ["regcred", { name: "regcred" }],
      secrets: ["regcred"],
      tolerations: [{ key: "node-role", operator: "Exists" }],
      affinity: [{ topologyKey: "kubernetes.io/hostname" }],
      tls: [{ secretName: "tls", hosts: ["a.example.com"] }],
      env: [{ name: "DB_PASSWORD", valueFrom: { secretKeyRef: { name: "db", key: "password" } } }],
      volumes: [
        { name: "a", secret: { secretName: "db", defaultMode: 420, items: [{ key: "a", path: "b" }] } },
        { name: "b", projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: "token" } }] } },
      ],
      llm: { maxTokens: 4096, tokenTtl: 60 },
    };
    expect(likelySecrets(values, isSecretPath)).toEqual([]);
  });

  test("[SV315] items of lists, numbers, and names that a path cannot have are found and cannot be sealed", () => {
    const values = {
      users: [{ name: "a", password: "x" }],
      extraEnv: [{ name: "DB_PASSWORD", value: "x" }],
      tokens: ["x"],
      args: ["--url=postgres://app:s3cret@db/app"],
      pin: { password: 987654321 },
      "db.password": "x",
      "a.b": { token: "x" },
      "my token": "x",
    };
    const found = likelySecrets(values, isSecretPath);
    expect(found.map(({ path, canBeSealed }) => [path, canBeSealed])).toEqual([
      ["users.0.password", false],
      ["extraEnv.0.value", false],
      ["tokens.0", false],
      ["args.0", false],
      ["pin.password", false],
      ["db.password", false],
      ["a.b.token", false],
      ["my token", false],
    ]);
    const plain = ["users", "extraEnv.0.value", "tokens.0", "args", "pin", "db.password", "a.b"];
    expect(likelySecrets(values, isSecretPath, plain).map(({ path }) => path)).toEqual(["my token"]);
  });

  test("[BC21] values are shown without what is listed as secret or looks like it, and with references", () => {
    const secret_ref = { name: "shop-db-secrets", key: "auth.token" };
    const values = {
      auth: { user: "app", password: "x", token: { secret_ref }, salt: "x" },
      users: [{ name: "a" }, { name: "b", password: 12345 }],
      session: { key: "x" },
    };
    const lists = { secret_values: ["auth.salt", "auth.token", "auth.none"], plain_values: ["session.key"] };
    expect(withHiddenSecrets({ values, ...lists }, "(hidden)")).toEqual({
      auth: { user: "app", password: "(hidden)", token: { secret_ref }, salt: "(hidden)" },
      users: [{ name: "a" }, { name: "b", password: "(hidden)" }],
      session: { key: "x" },
    });
  });

  test("[SV11] the path of a likely secret always leads to a text in the values", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("password", "a.b", "auth", "x"), fc.jsonValue()), (values) => {
        for (const path of paths(values)) {
          const found = path.split(".").reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], values);
          expect(typeof found).toBe("string");
        }
      }),
    );
  });

  test("[SV11] likely secrets are found in a long hostile text in little time", () => {
    const hostile = {
      [`${"use a".repeat(200_000)}`]: "x",
      a: "a://".repeat(250_000),
      b: "-----BEGIN ".repeat(90_000),
      c: ":".repeat(1_000_000),
    };
    const before = process.cpuUsage().user;
    expect(paths(hostile)).toEqual([]);
    expect(process.cpuUsage().user - before).toBeLessThan(2_000_000);
  });
});
