import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSecretPath } from "./component.ts";
import { isSecretName, likelySecretPaths } from "./secret-names.ts";

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
    "enableToken",
    "",
  ])("[SV11] %s is not the name of a secret", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe("the values of a chart that are most likely secrets", () => {
  const paths = (values: Record<string, unknown>) => likelySecretPaths(values, isSecretPath);

  test("[SV11] are texts that are named so, a private key, and an address with a password", () => {
    const values = {
      auth: { password: "s3cret", user: "app", token: "" },
      replicas: 2,
      database: { url: "postgres://app:s3cret@db/app", host: "https://db.example.com:5432/a@b" },
      tls: { cert: "-----BEGIN CERTIFICATE-----", pem: "-----BEGIN RSA PRIVATE KEY-----\nMII" },
    };
    expect(paths(values)).toEqual(["auth.password", "database.url", "tls.pem"]);
  });

  test("[SV11] are not the names and keys of Secrets, numbers, or what a path cannot name", () => {
    const values = {
      existingSecret: "db",
      auth: { existingSecret: { name: "db", key: "password" }, secretKeyRef: { name: "db", key: "password" } },
      password: 12,
      "a.b": { token: "x" },
      "my token": "x",
      list: [{ password: "x" }],
    };
    expect(paths(values)).toEqual([]);
  });

  test("[SV11] are always paths that lead to a text in the values", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("password", "a.b", "auth", "x"), fc.jsonValue()), (values) => {
        for (const path of paths(values)) {
          const found = path.split(".").reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], values);
          expect(typeof found).toBe("string");
        }
      }),
    );
  });

  test("[SV11] are found in a long hostile text in little time", () => {
    const hostile = { a: "a://".repeat(250_000), b: "-----BEGIN ".repeat(90_000), c: ":".repeat(1_000_000) };
    const before = process.cpuUsage().user;
    expect(paths(hostile)).toEqual([]);
    expect(process.cpuUsage().user - before).toBeLessThan(2_000_000);
  });
});
