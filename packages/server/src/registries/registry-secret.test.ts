import fc from "fast-check";
import { expect, test } from "vitest";
import { effectiveSecrets, registryOf } from "./registry-secret.ts";

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
])("[RS7] %s is the registry %s", (serverUrl, registry) => {
  expect(registryOf(serverUrl)).toBe(registry);
});

test("[RS7] all of the project's applies, and of the cluster's exactly what is for other registries", () => {
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
