import type { ComponentInput } from "@binnacle/client";

/** What people say to run an image. */
export interface ImageForm {
  readonly name: string;
  readonly image: string;
  /** Empty where it serves nothing. */
  readonly port: string;
  /** Empty where it is not reached from outside. */
  readonly host: string;
}

const COMPONENT = "web";

/** One workload that runs the image. */
export function componentsOf({ image, port, host }: ImageForm): readonly ComponentInput[] {
  const number = Number(port);
  return [
    {
      name: COMPONENT,
      workload_spec: {
        kind: "deployment",
        image: image.trim(),
        ...(port === "" ? {} : { ports: [{ name: "http", port: number }] }),
        ...(host.trim() === "" ? {} : { ingress: { host: host.trim(), ...(port === "" ? {} : { port: number }) } }),
      },
    },
  ];
}

const LONGEST_NAME = 40;

/** A name for an app after its image: the last part of it, without tag and digest, with the letters that names may have. */
export function nameAfter(image: string): string {
  const [repository = ""] = image.trim().split("@");
  const last = repository.slice(repository.lastIndexOf("/") + 1).split(":")[0] ?? "";
  return last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, LONGEST_NAME)
    .replace(/-+$/, "");
}

/** The field of the form that a problem of the API is about. */
const FIELD_OF: readonly (readonly [prefix: string, field: keyof ImageForm])[] = [
  ["components.0.workload_spec.image", "image"],
  ["components.0.workload_spec.ports", "port"],
  ["components.0.workload_spec.ingress", "host"],
];

/** The API's messages by the fields of the form. Those that are about none of them keep their path. */
export const fieldProblems = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields).map(([path, message]) => [
      FIELD_OF.find(([prefix]) => path === prefix || path.startsWith(`${prefix}.`))?.[1] ?? path,
      message,
    ]),
  );
