import { createHash } from "node:crypto";

/** Writing the formats of the Open Container Initiative: image layouts, indexes, manifests and configurations. */

const OCI = "application/vnd.oci.image";
const INDEX = `${OCI}.index.v1+json`;
const MANIFEST = `${OCI}.manifest.v1+json`;
const CONFIG = `${OCI}.config.v1+json`;
const LAYER = `${OCI}.layer.v1.tar+gzip`;
const EMPTY = "application/vnd.oci.empty.v1+json";
const REF_NAME = "org.opencontainers.image.ref.name";
/** Says of a layer what it holds, so that the control plane finds the layers that people download. */
const CONTENTS = "dev.binnacle.contents";
/** The layer of one executable for one platform, and that of the program, for Node.js on any platform. */
export const EXECUTABLE = "executable";
export const PROGRAM = "program";

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
}

/** A compressed tar archive with what makes it a layer. */
export interface Layer {
  /** Says what it holds, for the history of the image. */
  readonly name: string;
  readonly content: Buffer;
  /** The digest of the archive before it was compressed. */
  readonly diffId: string;
}

/** How a container of the image is started, by the names of the specification. */
export interface RunConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly WorkingDir: string;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly Labels: Readonly<Record<string, string>>;
}

/** Blobs by digest, and the artifacts that have a name. */
export interface Layout {
  readonly blobs: ReadonlyMap<string, Buffer>;
  readonly tagged: readonly Descriptor[];
}

export const digestOf = (content: Buffer): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** Collects the blobs of a layout. A layer that two platforms share is in it once. */
export class LayoutWriter implements Layout {
  readonly blobs = new Map<string, Buffer>();
  readonly tagged: Descriptor[] = [];

  add(mediaType: string, content: Buffer): Descriptor {
    const digest = digestOf(content);
    this.blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  }

  addJson(mediaType: string, value: object): Descriptor {
    return this.add(mediaType, Buffer.from(JSON.stringify(value)));
  }

  tag(name: string, descriptor: Descriptor): void {
    this.tagged.push({ ...descriptor, annotations: { ...descriptor.annotations, [REF_NAME]: name } });
  }

  /** The image of one platform. */
  addImage(platform: Platform, layers: readonly Layer[], run: RunConfig, created: string): Descriptor {
    const config = this.addJson(CONFIG, {
      created,
      ...platform,
      config: run,
      rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(({ name }) => ({ created, created_by: `npm run images: ${name}` })),
    });
    const manifest = this.addJson(MANIFEST, {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config,
      layers: layers.map(({ name, content }) => ({ ...this.add(LAYER, content), annotations: { [CONTENTS]: name } })),
      annotations: run.Labels,
    });
    return { ...manifest, platform };
  }

  addIndex(manifests: readonly Descriptor[], annotations: Readonly<Record<string, string>>): Descriptor {
    return this.addJson(INDEX, { schemaVersion: 2, mediaType: INDEX, manifests, annotations });
  }

  /** A file that is not an image. `subject` is the artifact that it is about. */
  addArtifact(artifactType: string, content: Buffer, subject: Descriptor): Descriptor {
    const manifest = this.addJson(MANIFEST, {
      schemaVersion: 2,
      mediaType: MANIFEST,
      artifactType,
      config: this.add(EMPTY, Buffer.from("{}")),
      layers: [this.add(artifactType, content)],
      subject,
    });
    return { ...manifest, artifactType };
  }

  /** A chart in the form that Helm pulls. Its configuration is the metadata of the chart. */
  addChart(metadata: Readonly<Record<string, unknown>>, archive: Buffer): Descriptor {
    return this.addJson(MANIFEST, {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: this.addJson("application/vnd.cncf.helm.config.v1+json", metadata),
      layers: [this.add("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)],
    });
  }
}

/** The files of a layout by path, as the image layout of the specification has them. */
export function layoutFiles({ blobs, tagged }: Layout): Map<string, Buffer> {
  const text = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`);
  return new Map([
    ["oci-layout", text({ imageLayoutVersion: "1.0.0" })],
    ["index.json", text({ schemaVersion: 2, mediaType: INDEX, manifests: tagged })],
    ...[...blobs].map(([digest, content]) => [`blobs/${digest.replace(":", "/")}`, content] as const),
  ]);
}
