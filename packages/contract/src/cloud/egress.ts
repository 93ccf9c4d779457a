import Type, { type Static } from "typebox";
import { strict } from "../fields.ts";

/**
 * The characters of all of these mean nothing to a shell, to systemd, or within a text of JSON and YAML. No address has a user name or a
 * password: user data can be read on the machine and by whoever may describe it.
 */
const HOST = "[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?";
const PORT = "(:[0-9]{1,5})?";
const PATH = "(/[A-Za-z0-9._~%+-]+)*";

// User data is shorter than 16 KB, and much of it is the boot script.
const MOST_EXCEPTIONS = 16;
const LONGEST_EXCEPTION = 60;
const LONGEST_ADDRESS = 200;

const Address = (schemes: "https" | "https?", description: string, example: string) =>
  Type.String({
    maxLength: LONGEST_ADDRESS,
    pattern: `^${schemes}://${HOST}${PORT}${PATH}$`,
    description,
    examples: [example],
  });

const Checksum = Type.String({ maxLength: 64, pattern: "^[0-9a-f]{64}$", examples: ["0".repeat(64)] });

const RegistryMirror = Type.Object(
  {
    registry: Type.String({
      maxLength: LONGEST_ADDRESS,
      pattern: `^(\\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?${PORT})$`,
      description: "The registry whose images are pulled from elsewhere; `*` is every one without a mirror of its own.",
      examples: ["docker.io"],
    }),
    endpoints: Type.Array(Address("https?", "A mirror.", "https://mirror.example.com/v2/docker.io"), {
      minItems: 1,
      maxItems: 5,
      description: "They are tried in this order, and then the registry itself.",
    }),
  },
  { ...strict, title: "RegistryMirror" },
);

/** How the machines of a cluster reach what is outside of their network. It is stored with the cluster, so all of them have the same. */
export const Egress = Type.Object(
  {
    proxy: Type.Optional(
      Type.String({
        maxLength: LONGEST_ADDRESS,
        pattern: `^http://${HOST}${PORT}$`,
        description:
          "The HTTP proxy of the boot script, of k3s and its containerd, of the jobs that install charts, of what calls the cloud, and of " +
          "the operator on its way to the hub. It takes no user name and no password, which everything on a machine could read.",
        examples: ["http://proxy.example.com:3128"],
      }),
    ),
    no_proxy: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: LONGEST_EXCEPTION,
          pattern: `^\\.?${HOST}(:[0-9]{1,5}|/[0-9]{1,2})?$`,
          examples: [".example.com"],
        }),
        {
          maxItems: MOST_EXCEPTIONS,
          uniqueItems: true,
          description:
            "Hosts, domains and ranges that are reached without the proxy. What the cluster needs is always among them: its network, " +
            "pods and services, the metadata service, `.svc`, `.cluster.local` and `localhost`.",
          examples: [[".example.com", "10.0.0.0/8"]],
        },
      ),
    ),
    registry_mirrors: Type.Optional(
      Type.Array(RegistryMirror, {
        maxItems: 20,
        description: "From where containerd pulls images, without credentials.",
      }),
    ),
    ca_certificates: Type.Optional(
      Type.String({
        maxLength: 16_000,
        pattern: "^(-----BEGIN CERTIFICATE-----[\\x0a]([A-Za-z0-9+/=]+[\\x0a])+-----END CERTIFICATE-----[\\x0a]?)+$",
        description:
          "Authorities that machines trust beside those of their system, for mirrors and downloads. The address of Binnacle needs a certificate " +
          "that they trust without.",
        examples: ["-----BEGIN CERTIFICATE-----\nMIIBIjANBg==\n-----END CERTIFICATE-----\n"],
      }),
    ),
    k3s_url: Type.Optional(
      Address(
        "https?",
        "Where machines download releases of k3s, with the paths that GitHub has: `<release>/k3s`. Checksums are those that Binnacle has.",
        "https://mirror.example.com/k3s",
      ),
    ),
    k3s_images_sha256: Type.Optional(
      Type.Object(
        { x86_64: Type.Optional(Checksum), aarch64: Type.Optional(Checksum) },
        {
          ...strict,
          minProperties: 1,
          description:
            "Machines load the images of k3s from the archive beside it, `k3s-airgap-images-amd64.tar.zst` or `-arm64`, with this checksum. " +
            "It is of the release that the cluster is made with; after an upgrade of Kubernetes the images are pulled.",
        },
      ),
    ),
    chart_repository: Type.Optional(
      Address(
        "https",
        "A Helm repository with the charts `aws-cloud-controller-manager` and `aws-ebs-csi-driver`, in place of those of their projects.",
        "https://charts.example.com",
      ),
    ),
  },
  {
    ...strict,
    title: "Egress",
    minProperties: 1,
    dependentRequired: { no_proxy: ["proxy"] },
    description:
      "How the machines reach what is outside of their network: by a proxy, by mirrors, or both. It cannot be changed afterwards, and machines " +
      "that are added or replaced have the same.",
  },
);
export type Egress = Static<typeof Egress>;
