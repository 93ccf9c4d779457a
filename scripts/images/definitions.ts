import type { RunConfig } from "./oci.ts";
import { CERTIFICATES, USER } from "./root-filesystem.ts";

/** What one image consists of above Node.js, and how it is started. Paths are relative to the repository, and in the image to `/app`. */
export interface ImageDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The source of its program, and the bundle that it becomes. */
  readonly entry: string;
  readonly bundle: string;
  readonly entrypoint: readonly string[];
  /** The name of one executable with Node.js and the program in it, which the image has instead of Node.js. */
  readonly command?: string;
  /** The name by which people start the program, where the image has Node.js. */
  readonly launcher?: string;
  /** The oldest Node.js that runs the bundle, where others than the image run it too. */
  readonly target?: string;
  /** Programs of others that it hands out, by the paths of their bundles. */
  readonly handsOut?: Readonly<Record<string, ImageDefinition>>;
  readonly env: readonly string[];
  readonly ports: readonly number[];
  /** Files that the program reads at run time, as patterns. */
  readonly files: readonly string[];
  /** Folders that the user of the image may write to, where nothing is mounted over them. */
  readonly folders: readonly string[];
  /** Workspaces that are in it as built files, beside those that the bundle imports. */
  readonly workspaces: readonly string[];
  /** npm packages with a build for each platform: `<name>-linux-<architecture>-gnu`. */
  readonly native: readonly string[];
  readonly hasHelm: boolean;
  /** The largest compressed size of one platform, in millions of bytes. */
  readonly limitMb: number;
  /** The most memory of its own when idle, in millions of bytes, where it goes on running. */
  readonly memoryLimitMb?: number;
}

export const NODE = "/usr/local/bin/node";
const DATA_FOLDER = "var/lib/binnacle";

export const CLI: ImageDefinition = {
  name: "cli",
  title: "Binnacle command line",
  description: "The command line of Binnacle.",
  entry: "packages/cli/src/main.ts",
  // For platforms without an executable; the control plane offers both for download.
  bundle: "binnacle.mjs",
  entrypoint: ["/usr/local/bin/binnacle"],
  command: "binnacle",
  target: "node20.12",
  env: ["HOME=/tmp"],
  ports: [],
  files: [],
  folders: [],
  workspaces: [],
  native: [],
  hasHelm: false,
  limitMb: 50,
};

export const IMAGES: readonly ImageDefinition[] = [
  {
    name: "server",
    title: "Binnacle server",
    description: "The control plane: API, hub, worker and console.",
    entry: "packages/server/src/binnacle-server.command.ts",
    bundle: "server.js",
    entrypoint: [NODE, "--max-semi-space-size=8", "/app/server.js"],
    launcher: "binnacle-server",
    handsOut: { "packages/cli/build/binnacle.mjs": CLI },
    env: [
      "BINNACLE_ENVIRONMENT=production",
      "BINNACLE_HOST=0.0.0.0",
      `BINNACLE_DATA_DIR=/${DATA_FOLDER}`,
      // Neither the sandbox nor the built-in database is in the image.
      "BINNACLE_SANDBOX=off",
    ],
    ports: [8080, 8081, 9090],
    files: [
      "catalog/**/*.yaml",
      "deploy/charts/*/**",
      "deploy/tofu/*/{*,.terraform.lock.hcl}",
      "packages/console/dist/**",
      "packages/server/package.json",
      "packages/server/src/images/install.sh",
      "node_modules/@fastify/swagger/package.json",
      "node_modules/@fastify/swagger-ui/static/**",
    ],
    folders: [DATA_FOLDER],
    workspaces: ["packages/console"],
    native: ["@node-rs/argon2"],
    hasHelm: false,
    limitMb: 75,
    memoryLimitMb: 160,
  },
  {
    name: "operator",
    title: "Binnacle operator",
    description: "Runs in each cluster and applies what the control plane declares; with Helm.",
    entry: "packages/operator/src/main.ts",
    bundle: "operator.js",
    entrypoint: [NODE, "--liftoff-only", "/app/operator.js"],
    env: [
      // Helm keeps its files in the home folder.
      "HOME=/tmp",
      // The allocator of glibc would keep what the start has freed, which is a tenth of the idle memory.
      "MALLOC_ARENA_MAX=1",
      "MALLOC_MMAP_THRESHOLD_=65536",
      "MALLOC_TRIM_THRESHOLD_=65536",
    ],
    ports: [8081],
    files: [],
    folders: [],
    workspaces: [],
    native: [],
    hasHelm: true,
    limitMb: 80,
    memoryLimitMb: 80,
  },
  CLI,
];

const SERVER = IMAGES[0] as ImageDefinition;

/** The folder of the images in the image that carries them. */
export const CARRIED_FOLDER = "images";

/** The server with all images and charts of its release in one more layer, so that a control plane can serve them without a volume. */
export const REGISTRY: ImageDefinition = {
  ...SERVER,
  name: "registry",
  title: "Binnacle server and registry",
  description: "The control plane, with the images and charts of its release, which it serves to clusters.",
  env: [...SERVER.env, `BINNACLE_IMAGES_DIR=/${CARRIED_FOLDER}`],
  limitMb: 320,
};

/** Facts about the build that become labels. */
export interface Release {
  readonly version: string;
  /** The Git commit, where the builder names it. */
  readonly revision: string | null;
}

export function labelsOf(
  { title, description }: ImageDefinition,
  { version, revision }: Release,
): Record<string, string> {
  const labels = {
    title,
    description,
    version,
    licenses: "Apache-2.0",
    ...(revision ? { revision } : {}),
  };
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value]));
}

export function runConfigOf(image: ImageDefinition, release: Release): RunConfig {
  const ports = Object.fromEntries(image.ports.map((port) => [`${port}/tcp`, {}]));
  return {
    User: `${USER}:${USER}`,
    Env: [
      // Programs of those who build on the image may be anywhere.
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "NODE_ENV=production",
      `SSL_CERT_FILE=/${CERTIFICATES}`,
      ...image.env,
      ...(release.revision && image.entry === SERVER.entry ? [`BINNACLE_BUILD=${release.revision}`] : []),
    ],
    Entrypoint: image.entrypoint,
    WorkingDir: "/app",
    ...(image.ports.length > 0 ? { ExposedPorts: ports } : {}),
    Labels: labelsOf(image, release),
  };
}
