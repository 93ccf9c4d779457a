import fc from "fast-check";
import { expect, test } from "vitest";
import { effectiveSecrets, type OpenRegistrySecret, registryOf, registrySecretsBody } from "./registry-secret.ts";

test.each([
  ["ghcr.io", "ghcr.io"],
  ["https://ghcr.io", "ghcr.io"],
  ["https://GHCR.io/", "ghcr.io"],
  ["http://registry.example.com:5000//", "registry.example.com:5000"],
  ["registry.example.com/Team/", "registry.example.com/Team"],
  ["https://index.docker.io/v1/", "docker.io"],
  ["registry-1.docker.io", "docker.io"],
  ["docker.io", "docker.io"],
  ["docker.io.example.com", "docker.io.example.com"],
])("[RS7] the address %s is that of the registry %s", (serverUrl, registry) => {
  expect(registryOf(serverUrl)).toBe(registry);
});

test("[RS7] all secrets of the project are in effect, and of the cluster's exactly those for other registries", () => {
  const secrets = fc.array(
    fc.constantFrom("a.io", "https://a.io/", "b.io", "B.io", "c.io").map((server_url) => ({ server_url })),
  );
  fc.assert(
    fc.property(secrets, secrets, (ofProject, ofCluster) => {
      const effective = effectiveSecrets(ofProject, ofCluster);
      const from = (place: string) =>
        effective.filter(({ inherited_from }) => inherited_from === place).map(({ secret }) => secret);
      const registries = (some: { server_url: string }[]) => some.map(({ server_url }) => registryOf(server_url));
      expect(from("project")).toEqual(ofProject);
      expect(new Set(registries(effective.map(({ secret }) => secret)))).toEqual(
        new Set(registries([...ofProject, ...ofCluster])),
      );
      expect(registries(from("cluster")).filter((registry) => registries(ofProject).includes(registry))).toEqual([]);
    }),
  );
});

const PROJECT = { id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", namespace: "shop" };
const secret = (name: string, server_url: string, password = "p"): OpenRegistrySecret => ({
  name,
  server_url,
  username: "robot",
  password,
});

test("[DS6] pull secrets of the project replace the cluster's for the same registry, and their names say where they come from", () => {
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
  "[DS6] Docker Hub, written as %s, is sent with the address that kubelets look for",
  (server_url) => {
    const { secret: told } = registrySecretsBody(PROJECT, [secret("hub", server_url)], []);
    expect(told.registries[0]?.server).toBe("https://index.docker.io/v1/");
  },
);

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
const secrets = fc.uniqueArray(fc.tuple(label, fc.domain()), { selector: ([name]) => name, maxLength: 5 });

test("[DS6] no two pull secrets have the same name, and each name is valid in Kubernetes", () => {
  fc.assert(
    fc.property(secrets, secrets, (ofProject, ofCluster) => {
      const open = (given: [string, string][]) => given.map(([name, server]) => secret(name, server));
      const { names } = registrySecretsBody(PROJECT, open(ofProject), open(ofCluster)).spec;
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,251}[a-z0-9])?$/);
    }),
  );
});
