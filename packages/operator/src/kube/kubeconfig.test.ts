import { dump } from "js-yaml";
import { describe, expect, test } from "vitest";
import { parseKubeconfig } from "./kubeconfig.ts";

const PATH = "/home/ann/.kube/config";
const base64 = (text: string) => Buffer.from(text).toString("base64");

function written({
  cluster = {},
  user = {},
  ...rest
}: {
  cluster?: object;
  user?: object;
  [field: string]: unknown;
} = {}) {
  return dump({
    "current-context": "here",
    contexts: [
      { name: "elsewhere", context: { cluster: "other", user: "other" } },
      { name: "here", context: { cluster: "c", user: "u", namespace: "team" } },
    ],
    clusters: [{ name: "c", cluster: { server: "https://10.0.0.1:6443/", ...cluster } }],
    users: [{ name: "u", user }],
    ...rest,
  });
}

const parsed = (config?: Parameters<typeof written>[0]) => parseKubeconfig(written(config), PATH);

describe("a kubeconfig", () => {
  test("[KU2] a kubeconfig gives the server and the namespace of its current context", () => {
    expect(parsed()).toMatchObject({ server: "https://10.0.0.1:6443", namespace: "team", isInsecure: false, ca: null });
  });

  test.each([
    ["within the file", { "certificate-authority-data": base64("CA") }, { text: "CA" }],
    ["beside the file", { "certificate-authority": "ca.pem" }, { file: "/home/ann/.kube/ca.pem" }],
    ["anywhere", { "certificate-authority": "/etc/ca.pem" }, { file: "/etc/ca.pem" }],
    [
      "both, of which the data wins",
      { "certificate-authority-data": base64("CA"), "certificate-authority": "x" },
      { text: "CA" },
    ],
  ])("[KU2] a kubeconfig may have its certificate authority %s", (_, cluster, ca) => {
    expect(parsed({ cluster }).ca).toEqual(ca);
  });

  test("[KU2] a kubeconfig may set another TLS server name, or turn the verification off", () => {
    const cluster = { "tls-server-name": "kubernetes", "insecure-skip-tls-verify": true };
    expect(parsed({ cluster })).toMatchObject({ serverName: "kubernetes", isInsecure: true });
  });

  test.each([
    ["nothing", {}, {}],
    ["a token", { token: "t" }, { token: { text: "t" } }],
    [
      "a file with a token, before a token",
      { token: "t", tokenFile: "token" },
      { token: { file: "/home/ann/.kube/token" } },
    ],
    [
      "a certificate",
      { "client-certificate-data": base64("C"), "client-key": "k.pem" },
      { certificate: { text: "C" }, key: { file: "/home/ann/.kube/k.pem" } },
    ],
    [
      "a plugin",
      {
        exec: {
          apiVersion: "client.authentication.k8s.io/v1",
          command: "aws",
          args: ["eks"],
          env: [{ name: "A", value: "b" }],
        },
      },
      {
        exec: {
          apiVersion: "client.authentication.k8s.io/v1",
          command: "aws",
          args: ["eks"],
          env: { A: "b" },
          installHint: null,
        },
      },
    ],
    [
      "a plugin beside the file",
      { exec: { apiVersion: "v", command: "./bin/login" } },
      { exec: { apiVersion: "v", command: "/home/ann/.kube/bin/login", args: [], env: {}, installHint: null } },
    ],
  ])("[KU2] a kubeconfig may identify its user by %s", (_, user, expected) => {
    expect(parsed({ user }).user).toEqual({ token: null, certificate: null, key: null, exec: null, ...expected });
  });

  test("[KU2] a kubeconfig needs no user", () => {
    const contexts = [{ name: "here", context: { cluster: "c" } }];
    expect(parsed({ contexts, users: null }).user).toEqual({ token: null, certificate: null, key: null, exec: null });
  });
});

describe("a kubeconfig is refused", () => {
  test.each([
    ["is empty", "", "is not a YAML mapping"],
    ["is a list", "- a", "is not a YAML mapping"],
    ["is not YAML", "users: [{token: hunter2", "is not a YAML mapping"],
    ["has no current context", written({ "current-context": "" }), "has no current-context"],
    ["lacks its context", written({ contexts: [] }), "has no context here"],
    [
      "names no cluster",
      written({ contexts: [{ name: "here", context: {} }] }),
      "names no cluster in the context here",
    ],
    ["lacks its cluster", written({ clusters: [] }), "has no cluster c"],
    ["lacks its user", written({ users: [] }), "has no user u"],
    ["gives no server", written({ cluster: { server: "" } }), "gives no server for the cluster c"],
    [
      "gives a path as server",
      written({ cluster: { server: "/var/run/x" } }),
      "gives no http(s) address as server of c",
    ],
    [
      "needs a proxy",
      written({ cluster: { "proxy-url": "http://p" } }),
      "asks for a proxy-url for c, which is not supported",
    ],
    ["has half a certificate", written({ user: { "client-key": "k" } }), "has only one of certificate and key for u"],
    [
      "has an auth-provider",
      written({ user: { "auth-provider": { name: "gcp" } } }),
      "uses an auth-provider for u; use exec instead",
    ],
    [
      "has a password",
      written({ user: { username: "u", password: "hunter2" } }),
      "has a username and password for u, which",
    ],
    [
      "has an empty plugin",
      written({ user: { exec: { args: [] } } }),
      "has an exec without command or apiVersion for u",
    ],
  ])("[KU3] a kubeconfig is refused when it %s, without a word of its secrets", (_, text, problem) => {
    expect(() => parseKubeconfig(text, PATH)).toThrow(`The kubeconfig ${PATH} ${problem}`);
    expect(() => parseKubeconfig(text, PATH)).not.toThrow("hunter2");
  });
});
