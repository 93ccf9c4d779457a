import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export const BUNDLE = `bundle: "1.0"
core:
  k3s: v1.33.5+k3s1
os:
  supported: [ubuntu-24.04]
ha_tiers: [single-server]
limits: { timeouts: { drain: 5m }, resources: { min_cpu_cores: 2 }, nodes: { max_agents: 20 } }
upgrade: { tools: { kured: 1.20.0 }, drain: { timeout: 5m } }
backup: { defaults: { schedule: 0 2 * * * } }
profiles:
  gitops:
    components:
      argo-cd: 9.1.0
`;

export const ADDON = `name: store
display_name: Store
category: database
icon: store
description: Keeps things.
chart: { repo: https://charts.example.com, name: store, version: 2.0.0, versions: [2.0.0, 1.0.0] }
default_values: { user: app }
values_schema:
  type: object
  additionalProperties: false
  properties:
    user: { type: string, pattern: "^[a-z]+$" }
    password: { type: string, pattern: "^[ -~]+$" }
secret_values: [password]
export_schema:
  host: { description: The host., secret: false, from: { service: "\${fullname}" } }
  password: { description: The password., secret: true, from: { secret: "\${fullname}", key: password } }
  url: { description: The address., secret: true, from: { value: "store://\${values.user}:\${exports.password|uri}@\${exports.host}" } }
stateful: true
`;

export const TEMPLATE = `name: app
namespace: registry
version: 1.0.0
scope: global
description: Something that runs.
icon: globe
tags: [web]
parameters:
  - { name: image, type: string, required: true }
  - { name: port, type: integer, default: 8080, min: 1, max: 65535 }
components:
  - name: web
    workload_spec:
      image: \${image}
      ports: [{ name: http, port: "\${port}" }]
`;

/** A small catalog in a folder of its own, with some of its files replaced, added or, by null, left out. */
export async function catalogFolder(changes: Record<string, string | null> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-catalog-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = { "bundles/1.0.yaml": BUNDLE, "addons/store.yaml": ADDON, "templates/app.yaml": TEMPLATE, ...changes };
  for (const kind of ["bundles", "addons", "templates"]) await mkdir(join(folder, kind));
  for (const [file, text] of Object.entries(files)) if (text !== null) await writeFile(join(folder, file), text);
  return folder;
}
