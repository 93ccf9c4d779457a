import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Bill, productionBill } from "../../scripts/bill-of-materials.ts";

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Listed {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, Listed>>;
}

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
}

const ROOT = new URL("../../", import.meta.url).pathname;
const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const npm = (...args: string[]): string =>
  execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 << 20, stdio: ["ignore", "pipe", "ignore"] });

const locked = Object.entries(read("package-lock.json").packages as Record<string, Locked>);
const installed = locked.filter(([path, { link }]) => path.includes("node_modules/") && !link);
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

const folder = mkdtempSync(join(tmpdir(), "binnacle-sbom-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("[SU1] every package of the lockfile has a SHA-512 digest, and none the address of a registry", () => {
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith("sha512-")).map(([path]) => path)).toEqual([]);
  expect(installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  expect(installed.length).toBeGreaterThan(0);
});

test("[SU2] the builds of every platform are locked, not only those of the machine that wrote the lockfile", () => {
  const paths = new Set(installed.map(([path]) => path));
  const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !paths.has(`${path}/node_modules/${name}`) && !paths.has(`node_modules/${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

test("[SU3] no dependency runs a script when it is installed: each that has one is denied it by name", () => {
  const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  const denied = Object.fromEntries([...new Set(scripted)].map((name) => [name, false]));
  expect(read("package.json").allowScripts).toEqual(denied);
});

test("[SU4] a package that one workspace ships and another only tests with is in the bill of materials", () => {
  const component = (name: string) => ({ "bom-ref": `${name}@1.0.0`, name });
  const bill: Bill = {
    metadata: { component: { "bom-ref": "root@1.0.0", name: "folder" } },
    components: ["server", "probe", "web", "web-core", "runner"].map(component),
    dependencies: [
      { ref: "root@1.0.0", dependsOn: ["server@1.0.0", "probe@1.0.0", "runner@1.0.0"] },
      { ref: "server@1.0.0", dependsOn: ["web@1.0.0", "runner@1.0.0"] },
      { ref: "probe@1.0.0", dependsOn: ["web@1.0.0"] },
      { ref: "web@1.0.0", dependsOn: ["web-core@1.0.0"] },
      { ref: "web-core@1.0.0", dependsOn: [] },
      { ref: "runner@1.0.0", dependsOn: [] },
    ],
  };
  const shipped = [
    { name: "root", version: "1.0.0" },
    { name: "server", version: "1.0.0", dependencies: { web: "^1.0.0" } },
  ];
  const production = productionBill(bill, shipped);
  expect(production.metadata.component.name).toBe("root");
  expect(production.components.map(({ name }) => name)).toEqual(["server", "web", "web-core"]);
  expect(production.dependencies).toEqual([
    { ref: "root@1.0.0", dependsOn: ["server@1.0.0"] },
    { ref: "server@1.0.0", dependsOn: ["web@1.0.0"] },
    { ref: "web@1.0.0", dependsOn: ["web-core@1.0.0"] },
    { ref: "web-core@1.0.0", dependsOn: [] },
  ]);
});

// npm is started three times, and takes seconds on a busy machine.
test("[SU4] npm run sbom lists exactly what production needs, each package with its digest and its licence", () => {
  const file = join(folder, "sbom.cdx.json");
  npm("run", "sbom", "--", file);
  const bill = JSON.parse(readFileSync(file, "utf8")) as { bomFormat: string; components: Component[] };
  expect(bill.bomFormat).toBe("CycloneDX");

  // npm's own walk of the production dependencies is the measure, and the root's Node.js comes on top.
  const workspaces = readdirSync(join(ROOT, "packages")).map((name) => `--workspace=packages/${name}`);
  const tree = JSON.parse(npm("ls", "--all", "--omit=dev", "--package-lock-only", "--json", ...workspaces)) as Listed;
  const runtimes = Object.entries<string>(read("package.json").optionalDependencies).map(
    ([name, range]) => `${name}@${range}`,
  );
  expect(bill.components.map((component) => component["bom-ref"]).toSorted()).toEqual(
    [...new Set([...idsBelow(tree), ...runtimes])].toSorted(),
  );

  const digests = new Map(installed.map(([path, { version, integrity }]) => [`${nameOf(path)}@${version}`, integrity]));
  for (const component of bill.components) {
    expect(component.licenses, component.name).toHaveLength(1);
    if (component.name.startsWith("@binnacle/")) continue;
    const [hash] = component.hashes ?? [];
    expect(hash?.alg, component.name).toBe("SHA-512");
    expect(`sha512-${Buffer.from(hash?.content ?? "", "hex").toString("base64")}`).toBe(
      digests.get(component["bom-ref"]),
    );
  }
}, 60_000);

function idsBelow(tree: Listed): string[] {
  return Object.entries(tree.dependencies ?? {}).flatMap(([name, entry]) =>
    entry.version === undefined ? [] : [`${name}@${entry.version}`, ...idsBelow(entry)],
  );
}
