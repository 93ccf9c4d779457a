import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { kubeAccessFrom } from "./kubeconfig.adapter.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-access-"));
});
afterEach(() => rm(folder, { recursive: true }));

const IN_POD = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };

async function file(name: string, content: string): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

async function serviceAccount() {
  await file("token", "first\n");
  await file("ca.crt", "CA");
  await file("namespace", "binnacle");
}

async function kubeconfig(user: object, cluster: object = {}): Promise<string> {
  return file(
    "config",
    JSON.stringify({
      "current-context": "x",
      contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
      clusters: [{ name: "x", cluster: { server: "https://127.0.0.1:6443", ...cluster } }],
      users: [{ name: "x", user }],
    }),
  );
}

/** A plugin that counts its calls and answers with what the count gives. */
async function plugin(status: string, after = "") {
  const path = await file(
    "plugin",
    `#!/bin/sh
echo x >> ${folder}/calls
n=$(grep -c x ${folder}/calls)
printf '{"kind":"ExecCredential","status":${status}}' "$n"
${after}
`,
  );
  await chmod(path, 0o755);
  return {
    user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin", installHint: "Install it." } },
    calls: async () => (await readFile(join(folder, "calls"), "utf8")).length / 2,
  };
}

describe("the way to the cluster", () => {
  test("[KU1] access to the cluster is read from the file that KUBECONFIG names, even within a pod", async () => {
    const KUBECONFIG = await kubeconfig({ token: "t" }, { "certificate-authority": await file("own.pem", "OWN") });
    const access = await kubeAccessFrom({ ...IN_POD, KUBECONFIG });
    expect(access).toMatchObject({ server: "https://127.0.0.1:6443", ca: "OWN", namespace: null });
    expect(await access.identity()).toMatchObject({ token: "t", certificate: null, key: null });
  });

  test("[KU1] without KUBECONFIG the service account of the operator's pod gives access to the cluster", async () => {
    await serviceAccount();
    const access = await kubeAccessFrom(IN_POD, { serviceAccountFolder: folder });
    expect(access).toMatchObject({
      server: "https://10.96.0.1:443",
      ca: "CA",
      namespace: "binnacle",
      isInsecure: false,
    });
    expect(await access.identity()).toMatchObject({ token: "first" });
  });

  test("[KU1] the address of the cluster may be an IPv6 address", async () => {
    await serviceAccount();
    const env = { ...IN_POD, KUBERNETES_SERVICE_HOST: "fd00::1" };
    expect(await kubeAccessFrom(env, { serviceAccountFolder: folder })).toMatchObject({
      server: "https://[fd00::1]:443",
    });
  });

  test.each([
    ["there is none", {}, "set KUBECONFIG to a file, or run in a pod"],
    [
      "the file is missing",
      { KUBECONFIG: "/nowhere/config" },
      "The file /nowhere/config, needed to reach the cluster, cannot be read (ENOENT)",
    ],
    ["there are several files", { KUBECONFIG: "/a:/b" }, "KUBECONFIG names several files; name one"],
    ["the pod has no service account", IN_POD, "ca.crt, needed to reach the cluster, cannot be read"],
  ])("[KU3] access to the cluster is refused with a reason when %s", async (_, env, reason) => {
    await expect(kubeAccessFrom(env, { serviceAccountFolder: folder })).rejects.toThrow(reason);
  });
});

describe("a token in a file", () => {
  test("[KU5] a token file is read again after a minute, and at once when the token was refused", async () => {
    await serviceAccount();
    let now = 0;
    const access = await kubeAccessFrom(IN_POD, { serviceAccountFolder: folder, now: () => now });
    expect((await access.identity()).token).toBe("first");
    await file("token", "second");
    expect((await access.identity()).token).toBe("first");
    now = 60_000;
    expect((await access.identity()).token).toBe("second");
    await file("token", "third");
    expect((await access.identity({ isRefused: true })).token).toBe("third");
  });
});

describe("a credential plugin", () => {
  test("[KU4] a credential plugin is called once until its credential expires or is refused", async () => {
    const { user, calls } = await plugin(`{"token":"t%s","expirationTimestamp":"1970-01-01T01:00:00Z"}`);
    let now = 0;
    const access = await kubeAccessFrom({ KUBECONFIG: await kubeconfig(user) }, { now: () => now });
    const both = await Promise.all([access.identity(), access.identity()]);
    expect(both.map(({ token }) => token)).toEqual(["t1", "t1"]);
    expect((await access.identity()).token).toBe("t1");
    now = 3_595_000;
    expect((await access.identity()).token).toBe("t2");
    now = 0;
    expect((await access.identity({ isRefused: true })).token).toBe("t3");
    expect(await calls()).toBe(3);
  });

  test("[KU4] a credential plugin may give a certificate instead of a token, which does not expire", async () => {
    const { user, calls } = await plugin(`{"clientCertificateData":"C%s","clientKeyData":"K"}`);
    const access = await kubeAccessFrom({ KUBECONFIG: await kubeconfig(user) }, { now: () => Number.MAX_SAFE_INTEGER });
    expect(await access.identity()).toMatchObject({ token: null, certificate: "C1", key: "K" });
    await access.identity();
    expect(await calls()).toBe(1);
  });

  test.each([
    ["fails", `{"token":"hunter2%s"}`, "exit 3", "failed (3). Install it."],
    ["prints no credential", `{"hunter2":"%s"}`, "", "printed no credential"],
    ["prints no JSON", `{"token":"hunter2%s"}`, "echo more", "printed no credential"],
  ])("[KU4] a credential plugin that %s is named, without what it printed", async (_, status, after, reason) => {
    const { user } = await plugin(status, after);
    const access = await kubeAccessFrom({ KUBECONFIG: await kubeconfig(user) });
    const refusal = access.identity();
    await expect(refusal).rejects.toThrow(`The credential plugin ${folder}/plugin ${reason}`);
    await expect(refusal).rejects.not.toThrow("hunter2");
  });
});
