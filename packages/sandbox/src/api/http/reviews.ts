import { isRecord } from "../fields/typed-value.ts";
import type { Core } from "../ports.ts";
import { at, textAt } from "../validation/metadata.ts";
import { type Act, isAllowed } from "./authorization.ts";
import { type ApiRequest, type ApiResponse, json, parsedBody } from "./message.ts";
import type { Identity } from "./tokens.ts";

type Answer = (core: Core, identity: Identity, body: unknown) => object;

const userOf = ({ username, groups }: Identity) => ({ username, groups });

const ANSWERS: Readonly<Record<string, Answer>> = {
  selfsubjectreviews: (_, identity) => ({ userInfo: userOf(identity) }),
  tokenreviews: (_, identity) => ({ authenticated: true, user: userOf(identity) }),
  selfsubjectaccessreviews: (core, identity, body) => ({ allowed: mayDo(core, identity, body) }),
  subjectaccessreviews: (core, _, body) => ({ allowed: mayDo(core, subjectOf(body), body) }),
  localsubjectaccessreviews: (core, _, body) => ({ allowed: mayDo(core, subjectOf(body), body) }),
  selfsubjectrulesreviews: () => ({
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: true,
  }),
};

/** Questions about who somebody is and what they may do; null for any other path. */
export function review(
  core: Core,
  identity: Identity,
  group: string,
  rest: readonly string[],
  request: ApiRequest,
): ApiResponse | null {
  const answer = ANSWERS[rest.at(-1) ?? ""];
  const isReview = group === "authorization.k8s.io" || group === "authentication.k8s.io";
  if (!isReview || !answer || request.method !== "POST") return null;
  const body = parsedBody(request.body, request.headers["content-type"]);
  return json(201, { ...(isRecord(body) ? body : {}), metadata: {}, status: answer(core, identity, body) });
}

/** Only service accounts have rights that are counted; whoever else is asked about is taken for an administrator. */
function subjectOf(body: unknown): Identity {
  const username = textAt(body, "spec", "user");
  const groups = at(body, "spec", "groups");
  const isAdministrator = !username.startsWith("system:serviceaccount:");
  return { username, groups: Array.isArray(groups) ? groups.map(String) : [], isAdministrator };
}

function mayDo(core: Core, identity: Identity, body: unknown): boolean {
  const asked = at(body, "spec", "resourceAttributes");
  if (!isRecord(asked)) return true;
  const subresource = textAt(asked, "subresource");
  const act: Act = {
    verb: textAt(asked, "verb"),
    group: textAt(asked, "group"),
    resource: `${textAt(asked, "resource")}${subresource === "" ? "" : `/${subresource}`}`,
    name: textAt(asked, "name") || undefined,
    namespace: textAt(asked, "namespace") || undefined,
  };
  return isAllowed(core, identity, act);
}
