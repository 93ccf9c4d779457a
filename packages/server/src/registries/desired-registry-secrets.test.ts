import fc from "fast-check";
import { expect, test } from "vitest";
import { type OpenRegistrySecret, registrySecretsBody } from "./desired-registry-secrets.ts";

const PROJECT = { id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", namespace: "shop" };
const secret = (name: string, server_url: string, password = "p"): OpenRegistrySecret => ({
  name,
  server_url,
  username: "robot",
  password,
});

test("[DS6] the project's count instead of the cluster's for the same registry, and names say from where each comes", () => {
  const body = registrySecretsBody(
    PROJECT,
    [secret("hub", "https://GHCR.io/", "own")],
    [secret("hub", "quay.io", "inherited"), secret("other", "ghcr.io", "unused")],
  );
  expect(body).toEqual({
    spec: { project_id: PROJECT.id, namespace: "shop", names: ["hub-registry-project", "hub-registry-cluster"] },
    secret: {
      registries: [
        { name: "hub-registry-project", server: "ghcr.io", username: "robot", password: "own" },
        { name: "hub-registry-cluster", server: "quay.io", username: "robot", password: "inherited" },
      ],
    },
  });
  expect(JSON.stringify(body)).not.toContain("unused");
});

test.each(["docker.io", "https://index.docker.io/v1/", "registry-1.docker.io"])(
  "[DS6] Docker Hub, written as %s, goes by the address that kubelets look for",
  (server_url) => {
    const { secret: told } = registrySecretsBody(PROJECT, [secret("hub", server_url)], []);
    expect(told.registries[0]?.server).toBe("https://index.docker.io/v1/");
  },
);

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
const secrets = fc.uniqueArray(fc.tuple(label, fc.domain()), { selector: ([name]) => name, maxLength: 5 });

test("[DS6] whatever they are called, no two get the same name, and each is one that Kubernetes takes", () => {
  fc.assert(
    fc.property(secrets, secrets, (ofProject, ofCluster) => {
      const open = (given: [string, string][]) => given.map(([name, server]) => secret(name, server));
      const { names } = registrySecretsBody(PROJECT, open(ofProject), open(ofCluster)).spec;
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,251}[a-z0-9])?$/);
    }),
  );
});
