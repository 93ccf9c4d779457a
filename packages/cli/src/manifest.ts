import type { App } from "@binnacle/client";
import { documentsIn, lineAt, type Path, placesIn, type ReadApp, readApps, toYaml } from "@binnacle/manifest/read";
import { CliError, EXIT, type Host } from "./host.ts";

/** Where a field stands in the file that it came from, as `file:line`. */
export type PositionOf = (path: Path) => string | null;

/** The apps of a `binnacle.yaml`; its first mistake is told with its line. */
export function appsIn(file: string, text: string, env: Host["env"] | null): readonly ReadApp[] {
  const { apps, problems } = readApps(text, env);
  const [problem] = problems;
  if (problem) {
    const field = problem.path.length > 0 ? `${problem.path.join(".")}: ` : "";
    throw new CliError(`${file}:${lineAt(text, problem.from)}: ${field}${problem.message}`);
  }
  if (apps.length === 0) throw new CliError(`${file} holds no app.`);
  const names = apps.map(({ name, project }) => (project ? `${project}/${name}` : name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new CliError(`${file} holds the app ${twice} twice.`);
  return apps;
}

/** The lines of a YAML text, by the path of a field; the nearest parent stands in for a field that is missing. */
export function positionsIn(file: string, text: string, document = 0): PositionOf {
  return (path) => `${file}:${lineAt(text, placesIn(text, document)(path).from)}`;
}

/** One YAML or JSON document. A mistake in it is told with its line. */
export function parsedFile(file: string, text: string): unknown {
  const [document, second] = documentsIn(text);
  if (second) throw new CliError(`${file} holds several documents, and one is expected.`);
  if (!document) return {};
  const [problem] = document.errors;
  if (problem) throw new CliError(`${file}:${lineAt(text, problem.pos[0])}: ${problem.message}`);
  return document.toJS();
}

const schemaLine = (url: string) => `# yaml-language-server: $schema=${url}/schemas/binnacle.schema.json\n`;

const SECRETS_NOTE = `# Secrets are not exported. Set them with \`binnacle apps secrets set\`. A secret_ref in the values of a chart stands for
# a secret of this app: write the value in its place, as \${DB_PASSWORD}, before you deploy another app from this file.
`;

/** A running app as a file that deploys it again. Secrets stay where they are; their keys are named. */
export function exported(app: Pick<App, "name" | "description" | "components">, project: string, url: string): string {
  const components = app.components.map(({ secrets: _secrets, ready_replicas: _ready, ...component }) => component);
  const keys = app.components.flatMap(({ name, secrets }) => secrets.map((key) => `#   ${name}: ${key}\n`));
  const note = keys.length > 0 ? `${SECRETS_NOTE}${keys.join("")}` : "";
  const body = { name: app.name, project, ...(app.description ? { description: app.description } : {}), components };
  return `${schemaLine(url)}${note}${toYaml(body)}`;
}

/** A first file, with the fields that most apps need next as comments. */
export function starter(name: string, image: string, port: number | null, project: string | null, url: string): string {
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new CliError(`"${name}" is not a name of an app: use lower-case letters, digits and dashes.`, EXIT.usage);
  }
  return `${schemaLine(url)}# Deploy it with: binnacle apps deploy -f binnacle.yaml
name: ${name}
${project === null ? "# project: shop # or --project" : `project: ${toYaml(project).trim()}`}
components:
  - name: web
    workload_spec:
      image: ${toYaml(image).trim()}
      # Left out, the count that \`binnacle apps scale\` has set stays.
      # replicas: 2
${port === null ? "      # ports:\n      #   - { name: http, port: 8080 }" : `      ports:\n        - { name: http, port: ${port} }`}
      # env:
      #   - { name: LOG_LEVEL, value: info }
      # resources:
      #   requests: { cpu: 100m, memory: 128Mi }
      # probes:
      #   readiness: { path: /, port: ${port ?? 8080} }
      # ingress: { host: shop.example.com, tls: true }
    # Values of secrets do not belong into this file: binnacle apps secrets set ${name} API_KEY
`;
}
