import { describe, expect, test } from "vitest";
import { isSafeText, safeText } from "./link/text.ts";
import { maskRandom, maskSecrets } from "./secret-text.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const JWT = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(43)}`;
const BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

/** Assembled here, so that no scanner takes this file for a leak. */
const SECRETS: readonly (readonly [string, string])[] = [
  ["a JWT", JWT],
  ["a JWT without a signature", JWT.split(".").slice(0, 2).join(".")],
  ["an AWS key behind an underscore", `key_${"AKIA"}IOSFODNN7EXAMPLE`],
  ["a node token of k3s", `K10${"0a1b2c3d".repeat(8)}::server:hunter2`],
  ["a token of kubeadm", "abcdef.0123456789abcdef"],
  ["an address with a password alone", "redis://:pw@host"],
  ["a password in an assignment", "password=hunter2hunter2"],
  ["an AWS secret in an assignment", "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG"],
  ["a connection string", "Server=db;User Id=app;Password=hunter2;"],
  ["a password in JSON", '{"db_password": "hunter2"}'],
  ["a password in a line of YAML", "password: hunter22"],
  ["a password in quotes", 'admin password = "S3cr3t!x"'],
  ["a password of Python", "{'password': 'hunter22'}"],
  ["a token of npm", `npm_${"a1".repeat(18)}`],
  ["a key of SendGrid", `SG.${"a1".repeat(11)}.${"b2".repeat(20)}`],
  ["a bearer token", "Authorization: Bearer 0123456789"],
  ["a bearer token without its header", "sent Bearer 0123456789abcdefghij"],
  ["a login in base64", "Authorization: Basic dXNlcjpwYXNz"],
  ["a token of GitHub", `ghp_${"a1".repeat(18)}`],
  ["a fine-grained token of GitHub", `github_pat_${"a1".repeat(20)}`],
  ["a token of GitLab", `glpat-${"a1".repeat(10)}`],
  ["a token of Slack", `xoxb-${"12".repeat(10)}`],
  ["a key of Google", `AIza${"a1".repeat(17)}x`],
  ["a key of Anthropic", `sk-ant-api03-${"a1B2".repeat(20)}`],
  ["a webhook of Slack", `https://hooks.slack.com/services/T0001/B0002/${"a1".repeat(12)}`],
  ["a webhook of Discord", `https://discord.com/api/webhooks/1234/${"a1".repeat(30)}`],
  ["a variable in YAML", '- name: DB_PASSWORD\n  value: "pw"'],
  ["a variable in JSON", '{"name": "API_TOKEN", "value": "hunter"}'],
  ["a key of Stripe", `sk_live_${"a1".repeat(12)}`],
  ["a PGP key", "-----BEGIN PGP PRIVATE KEY BLOCK-----"],
  ["a private key in lower case", "-----begin rsa private key-----"],
  ["a private key with two spaces", "-----BEGIN  PRIVATE  KEY-----"],
  ["a private key in base64", base64("-----BEGIN EC PRIVATE KEY-----\nMHcC")],
  ["a JWT in base64", base64(JWT)],
  ["an AWS key in base64", base64(`${"AKIA"}IOSFODNN7EXAMPLE`)],
];

const HARMLESS = [
  `The image registry.example.com/shop@sha256:${"0a1b2c3d".repeat(8)} was not found.`,
  "Back-off restarting failed container=web pod=web-7d4b9c6f5-x2x4z_shop(0b7f5a0e-3f0e-4b1e-9c1a-2f6f5c1d8e7a)",
  "couldn't find key password in Secret shop/web-secrets",
  "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.",
  "Basic authentication is required, a Bearer token is not accepted here",
  "invalid token: unauthorized; password=$(DB_PASSWORD), token=[masked]",
  "exec in PWD=/var/lib/rancher failed at https://db.example.com:5432/a@b",
  "npm_config_user_agent is set, max_token: 4096, waiting for token: timeout after 30s",
  "commit 3f786850e387550fdab836ed7e6dc881de23001b of binnacle-operator-0.12.3",
  "env has name: DB_PASSWORD_FILE value: /run/secret and name: TOKEN valueFrom: secretKeyRef",
  "name: DB_PASSWORD value: $(FROM_SECRET)",
  "Pod binnacle-system/Operator-7d4b9c6f5-x2x4z-of-the-cluster-in-eu-central-1 is ready.",
  "Wrote /var/lib/rancher/k3s/server/manifests/traefik and restarted.",
];

describe("secrets in a text", () => {
  test.each(SECRETS)("[OL339] %s is masked in messages", (_, secret) => {
    const masked = safeText(`It failed: ${secret}`);
    expect(masked).toMatch(/^It failed: .*\[masked\]/);
    expect(masked).not.toContain(secret);
    expect(isSafeText(masked)).toBe(true);
    expect(maskRandom(maskRandom(secret))).toBe(maskRandom(secret));
  });

  test("[OL339] a private key is masked with its body", () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${BODY}\n-----END PRIVATE KEY-----`;
    expect(maskSecrets(`before ${key} after`)).toBe("before [masked] after");
  });

  test.each(HARMLESS)("[OL339] this text is not masked: %s", (text) => {
    expect(safeText(text)).toBe(text);
    expect(maskRandom(text)).toBe(text);
  });

  test.each([
    ["64 hexadecimal digits", "0a1b2c3d".repeat(8)],
    ["the body of a key", BODY],
    ["43 random digits of base64url", "wZu9ufhHCRrwYGDaMBICg3XXhG_osh8KyYYhEvumw0A"],
    ["the first piece of a JWT", "eyJhbGciOiJIUzI1NiIsInR5cCI6Ik"],
  ])(
    "[IN48] %s are masked in the lines of an installer, and not in messages, where containers have such names",
    (_, word) => {
      expect(maskRandom(`It failed: ${word}.`)).toBe("It failed: [masked].");
      expect(safeText(`It failed: ${word}.`)).toBe(`It failed: ${word}.`);
    },
  );

  test.each([
    ["curl -u admin:hunter22", "curl -u admin:[masked]"],
    ["mysql -phunter22 -h db", "mysql -p[masked] -h db"],
    ["psql --password hunter22", "psql --password [masked]"],
    ["docker run -p 8080:80", "docker run -p 8080:80"],
  ])("[IN48] the line %j of an installer becomes %j", (line, masked) => {
    expect(maskRandom(line)).toBe(masked);
  });

  test.each([
    "eyJ",
    "-----BEGIN ",
    "a://",
    ":",
    "://a:",
    "K10",
    "token",
    "aB1",
    '"a',
    "bearer ",
    "-",
    "authorization ",
    "password  :  ",
    "--password ",
    "name: ",
    "name:a",
    "sk-ant-",
    "hooks.slack.com/services/",
    "a-",
    " -u a",
    " -pa1",
  ])("[OL339] a megabyte of %j is searched in little time", (word) => {
    const hostile = word.repeat(1_000_000 / word.length);
    const before = process.cpuUsage().user;
    maskRandom(hostile);
    expect(process.cpuUsage().user - before).toBeLessThan(1_500_000);
  });
});
