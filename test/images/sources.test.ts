import { expect, test } from "vitest";
import { debMembers } from "../../scripts/images/deb.ts";
import { type Lockfile, lockedPackage, packageOf, withDependencies } from "../../scripts/images/lockfile.ts";
import { placed } from "../../scripts/images/places.ts";

function ar(members: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(members).map(([name, content]) => {
    const header = `${name.padEnd(16)}${"0".padEnd(12)}${"0".padEnd(12)}100644  ${String(content.length).padEnd(10)}\`\n`;
    return header + content + (content.length % 2 ? "\n" : "");
  });
  return Buffer.from(`!<arch>\n${parts.join("")}`);
}

test("[IM5] the two archives of a Debian package are found", () => {
  const { control, data } = debMembers(
    ar({ "debian-binary": "2.0\n", "control.tar.xz": "odd", "data.tar.xz": "files" }),
  );
  expect([control.name, control.content.toString(), data.content.toString()]).toEqual([
    "control.tar.xz",
    "odd",
    "files",
  ]);
});

test("[IM5] what is not a Debian package, or only half of one, is refused", () => {
  expect(() => debMembers(Buffer.from("<html>"))).toThrow("It is not a Debian package.");
  expect(() => debMembers(ar({ "control.tar.xz": "x" }))).toThrow("has no control.tar or no data.tar");
});

test("[IM11] a source that looks for files beside itself looks for them at its place in the repository", () => {
  const text = `const BUILT = new URL("../../../console/dist/", import.meta.url).pathname;`;
  expect(placed(text, "packages/server/src/console/console.routes.ts")?.text).toBe(
    `const BUILT = new URL("../../../console/dist/", __placeOf("packages/server/src/console/console.routes.ts").href).pathname;`,
  );
  expect(placed("join(__dirname, 'static')", "node_modules/ui/lib/routes.js")?.text).toBe(
    `join(__placeOf("node_modules/ui/lib").pathname, 'static')`,
  );
});

test("[IM11] a thread is started from its bundle, which is at the place of its source", () => {
  const source = placed(`pool(new URL("./reading.worker.ts", import.meta.url))`, "packages/server/src/readers.ts");
  expect(source?.workers).toEqual(["./reading.worker.ts"]);
  expect(source?.text).toContain(`new URL("./reading.worker.js", `);
});

test("[IM11] a source that does not ask for its place stays as it is", () => {
  expect(placed("export const metadata = importmetaurl;", "a.ts")).toBeNull();
});

const lockfile: Lockfile = {
  packages: {
    "": {},
    "packages/console": {
      name: "@binnacle/console",
      version: "0.1.0",
      dependencies: { react: "^1.0.0", "@binnacle/cli": "0.1.0" },
    },
    "packages/cli": { name: "@binnacle/cli", version: "0.1.0", dependencies: { "@x/table": "1" } },
    "node_modules/@binnacle/cli": { link: true, resolved: "packages/cli" },
    "node_modules/react": {
      version: "1.0.0",
      integrity: "sha512-cmVhY3Q=",
      license: "MIT",
      dependencies: { loose: "1" },
    },
    "node_modules/react/node_modules/loose": { version: "1.2.0", license: "MIT" },
    "node_modules/loose": { version: "2.0.0", license: "MIT", dependencies: { unused: "1" } },
    "node_modules/unused": { version: "1.0.0" },
    "packages/cli/node_modules/@x/table": { version: "3.0.0", license: "MIT" },
  },
};

test("[IM10] the packages that a workspace needs are those that Node.js would find", () => {
  expect([...withDependencies(lockfile, "packages/console")]).toEqual([
    "packages/console",
    "node_modules/react",
    "node_modules/react/node_modules/loose",
    "packages/cli",
    "packages/cli/node_modules/@x/table",
  ]);
});

test("[IM10] a source belongs to the innermost package that it is in", () => {
  expect(packageOf("node_modules/react/node_modules/@x/loose/lib/index.js")).toBe(
    "node_modules/react/node_modules/@x/loose",
  );
  expect(packageOf("packages/server/src/main.ts")).toBe("packages/server");
  expect(packageOf("scripts/images.ts")).toBeNull();
});

test("[IM10] a package that the lockfile does not have is refused", () => {
  expect(() => lockedPackage(lockfile, "node_modules/stray")).toThrow(
    "The lockfile has no package node_modules/stray.",
  );
});
