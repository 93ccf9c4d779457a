import type { KubeClient, KubeObject } from "./kube-client.ts";
import { bindingStep, ROLE_BINDINGS } from "./role-binding.ts";
import type { Clock } from "./work-queue.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/** The API server learns of a binding a moment after it is written. */
const REVIEW_EVERY_MS = 200;
const REVIEWS_AT_MOST = 25;

/** Makes the binding as it is wanted. True where it was not. */
export async function ensureBinding(
  kube: Pick<KubeClient, "get" | "apply" | "delete">,
  wanted: KubeObject,
): Promise<boolean> {
  const { name, namespace } = wanted.metadata;
  const found = await kube.get(ROLE_BINDINGS, name, namespace);
  const step = bindingStep(found, wanted);
  if (step === "keep") return false;
  const { uid } = found?.metadata ?? {};
  if (step === "replace") await kube.delete(ROLE_BINDINGS, name, namespace, uid ? { preconditions: { uid } } : {});
  await kube.apply(wanted, { force: true });
  return true;
}

/** Whether whoever the client works as may create Secrets in the namespace, within the time that a new binding takes to be in force. */
export async function isBoundIn(namespace: string, kube: Pick<KubeClient, "raw">, clock: Clock): Promise<boolean> {
  const resourceAttributes = { namespace, verb: "create", group: "", resource: "secrets" };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } };
  for (let count = 0; count < REVIEWS_AT_MOST; count += 1) {
    const { status } = await kube.raw<{ status: { allowed: boolean } }>("POST", REVIEWS, { body });
    if (status.allowed) return true;
    await new Promise<void>((done) => clock.after(REVIEW_EVERY_MS, done));
  }
  return false;
}
