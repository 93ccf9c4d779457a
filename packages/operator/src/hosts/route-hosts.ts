import { isHostName } from "@binnacle/contract";
import { type Fields, fieldsIn, listIn, textIn } from "../kube/object-fields.ts";

/** The hosts that an object asks an ingress controller, a gateway or a DNS controller to answer for. */

const INGRESS_GROUPS: ReadonlySet<string> = new Set(["networking.k8s.io", "extensions"]);
const GATEWAY_GROUP = "gateway.networking.k8s.io";

/** Annotations whose values are hosts, whatever object has them. Those of `unlisted` are among them where they are allowed. */
const HOST_LISTS = [
  /\/server-alias$/,
  /^konghq\.com\/host-aliases$/,
  /^appgw\.ingress\.kubernetes\.io\/hostname-extension$/,
  /\/redirect-from$/,
  /^external-dns\.alpha\.kubernetes\.io\/(internal-)?hostname$/,
  // A certificate for the host of another project could be shown to its users.
  /^cert-manager\.io\/(alt-names|common-name)$/,
];

/**
 * Annotations by which an ingress controller answers for hosts that no rule names: aliases, and pieces of its configuration.
 * Controllers can be told another prefix, so the known names count with any.
 */
const UNLISTED = [
  /\/server-alias(-regex)?$/,
  /-snippets?$/,
  /\/redirect-from(-regex)?$/,
  /\/config-(backend|frontend|global|defaults|proxy|tcp)$/,
  /^konghq\.com\/host-aliases$/,
  /^appgw\.ingress\.kubernetes\.io\/hostname-extension$/,
  /^alb\.ingress\.kubernetes\.io\/conditions\./,
  /^zalando\.org\/skipper-(routes|predicate)$/,
  /^getambassador\.io\/config$/,
  /^traefik\.ingress\.kubernetes\.io\/(rule-type|router\.priority)$/,
];
/** Traefik writes the value into its rule as it is. */
const PATH_MATCHER = "traefik.ingress.kubernetes.io/router.pathmatcher";
const PATH_MATCHERS: ReadonlySet<unknown> = new Set(["Path", "PathPrefix", "PathRegexp"]);

const annotationsOf = ({ metadata }: Fields): [string, unknown][] =>
  Object.entries(fieldsIn(fieldsIn(metadata)["annotations"]));

/** The names of annotations with which an object can ask for hosts that are not to be seen. */
export function unlistedHostAnnotations(object: Fields): string[] {
  return annotationsOf(object)
    .filter(([name, value]) =>
      name === PATH_MATCHER ? !PATH_MATCHERS.has(value) : UNLISTED.some((pattern) => pattern.test(name)),
    )
    .map(([name]) => name);
}

const isIngress = ({ apiVersion, kind }: Fields): boolean =>
  kind === "Ingress" && INGRESS_GROUPS.has(textIn(apiVersion).split("/")[0] ?? "");

/** Traefik has written paths into its rules as they are, and these characters end a path there. */
const ENDS_PATH = /[`"'\s]/;

/** Whether a path of an Ingress could be read as more than a path, such as another host. */
export const hasUnsafePath = (object: Fields): boolean =>
  isIngress(object) &&
  listIn(fieldsIn(object["spec"])["rules"])
    .flatMap(({ http }) => listIn(fieldsIn(http)["paths"]))
    .some(({ path }) => ENDS_PATH.test(textIn(path)));

/**
 * Whether an Ingress has a rule for all hosts or for a wildcard. Controllers differ in whether the host of another project wins over it:
 * Traefik goes by the length of the rule.
 */
export const isBroad = (object: Fields): boolean =>
  isIngress(object) &&
  listIn(fieldsIn(object["spec"])["rules"]).some(({ host }) => textIn(host) === "" || isWildcard(host));

/** The hosts in the fields of an object, as they are written there. */
export function writtenHosts(object: Fields): unknown[] {
  const [group = ""] = textIn(object["apiVersion"]).split("/");
  const spec = fieldsIn(object["spec"]);
  if (isIngress(object)) {
    // A certificate, and the proof for it, is asked for by the name of the host. Wildcard certificates are shared.
    const certified = listIn(spec["tls"]).flatMap(({ hosts }) => (Array.isArray(hosts) ? hosts : []));
    return present([
      ...listIn(spec["rules"]).map(({ host }) => host),
      ...certified.filter((host) => !isWildcard(host)),
    ]);
  }
  if (group !== GATEWAY_GROUP) return [];
  const listeners = listIn(spec["listeners"]).map(({ hostname }) => hostname);
  return present([...(Array.isArray(spec["hostnames"]) ? spec["hostnames"] : []), ...listeners]);
}

/** Without rules that name no host. */
const present = (hosts: readonly unknown[]): unknown[] =>
  hosts.filter((host) => host !== undefined && host !== null && host !== "");

/** All hosts that an object asks for, each once. */
export function hostsOf(object: Fields): string[] {
  const listed = annotationsOf(object).flatMap(([name, value]) =>
    HOST_LISTS.some((pattern) => pattern.test(name)) ? textIn(value).split(/[\s,]+/) : [],
  );
  const hosts = [...writtenHosts(object).map(textIn), ...listed].map((text) => text.toLowerCase().replace(/\.$/, ""));
  return [...new Set(hosts.filter(isHostName))];
}

export const isWildcard = (host: unknown): boolean => textIn(host).startsWith("*.");

/** Whether a wildcard answers for a host. Ingress controllers differ in how many labels it stands for. */
export const covers = (wildcard: string, host: string): boolean =>
  isWildcard(wildcard) && wildcard !== host && host.endsWith(wildcard.slice(1));
