import { createHash } from "node:crypto";
import { canonicalJson } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { objectOf, type WorkloadContext } from "./component-context.ts";
import { fieldsOf, present, someOf } from "./present.ts";

const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");

/** As `data`, not `stringData`: what is applied must read back the same. */
export function secretsObject(context: Pick<WorkloadContext, "namespace" | "labels" | "names" | "secrets">) {
  const data = Object.entries(context.secrets).map(([key, value]) => [key, base64(value)] as const);
  if (data.length === 0) return [];
  return [
    objectOf(context, "v1", "Secret", context.names.secrets, { type: "Opaque", data: Object.fromEntries(data.sort()) }),
  ];
}

export function configurationObjects(context: WorkloadContext): KubeObject[] {
  const data = fieldsOf(context.environment.plain);
  return [
    ...(data ? [objectOf(context, "v1", "ConfigMap", context.names.env, { data })] : []),
    ...secretsObject(context),
  ];
}

/** Of what comes from several sources under one name, the later one counts, and `env` before all. */
export function environmentFields({ names, environment, secrets }: WorkloadContext) {
  return present({
    envFrom: someOf([
      ...(fieldsOf(secrets) ? [{ secretRef: { name: names.secrets } }] : []),
      ...(fieldsOf(environment.plain) ? [{ configMapRef: { name: names.env } }] : []),
    ]),
    env: someOf(
      Object.entries(environment.secret).map(([name, { secret }]) => ({ name, valueFrom: { secretKeyRef: secret } })),
    ),
  });
}

/** Pods read their variables when they start, so they are replaced when this changes; undefined where they read none. */
export function configurationChecksum({ environment: { plain, secret }, secrets }: WorkloadContext) {
  if (![plain, secret, secrets].some(fieldsOf)) return undefined;
  return createHash("sha256").update(canonicalJson({ plain, secret, secrets })).digest("hex");
}
