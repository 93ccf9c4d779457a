import type { KubeObject } from "../store/kube-object.ts";
import { type JsonRecord, omitting } from "./fields/typed-value.ts";
import type { Core } from "./ports.ts";
import { at, recordAt, recordsAt, textAt } from "./validation/metadata.ts";

const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

/** A new service with the addresses and ports that it did not ask for by name. */
export function addressed(core: Core, service: KubeObject): KubeObject {
  const spec = recordAt(service, "spec");
  const type = textAt(spec, "type");
  if (type === "ExternalName") return service;
  const clusterIP = textAt(spec, "clusterIP") || freeAddress(core);
  // Whoever makes the endpoints of such a service may use both families.
  const isOfOthers = clusterIP === "None" && at(spec, "selector") === undefined;
  return {
    ...service,
    spec: {
      ...spec,
      ...(needsNodePorts(spec) ? { ports: withNodePorts(core, spec) } : {}),
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: at(spec, "ipFamilies") ?? (isOfOthers ? ["IPv4", "IPv6"] : ["IPv4"]),
      ipFamilyPolicy: at(spec, "ipFamilyPolicy") ?? (isOfOthers ? "RequireDualStack" : "SingleStack"),
    },
  };
}

/** An assigned address stays when an update leaves it out. */
export function readdressed(core: Core, live: KubeObject, next: KubeObject): KubeObject {
  const [before, after] = [recordAt(live, "spec"), recordAt(next, "spec")];
  if (textAt(after, "type") === "ExternalName") {
    return { ...next, spec: omitting(after, "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy") };
  }
  const ports = recordsAt(after, "ports").map((port) => {
    const known = recordsAt(before, "ports").find(
      (one) => one["port"] === port["port"] && one["protocol"] === port["protocol"],
    );
    return needsNodePorts(after) && !port["nodePort"] && known?.["nodePort"]
      ? { ...port, nodePort: known["nodePort"] }
      : port;
  });
  const clusterIP = textAt(after, "clusterIP") || textAt(before, "clusterIP");
  const spec = { ...after, ...(ports.length > 0 ? { ports } : {}), ...(clusterIP ? { clusterIP } : {}) };
  return addressed(core, { ...next, spec });
}

const needsNodePorts = (spec: JsonRecord): boolean => ["NodePort", "LoadBalancer"].includes(textAt(spec, "type"));

const services = ({ table }: Core) => table.list("services").map((service) => recordAt(service, "spec"));

/** Of 10.96.0.0/16; the first ones are for the cluster's own services. */
function freeAddress(core: Core): string {
  const taken = new Set(services(core).map((spec) => textAt(spec, "clusterIP")));
  for (let number = 256; number < 65_535; number++) {
    const address = `10.96.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  return "";
}

function withNodePorts(core: Core, spec: JsonRecord): JsonRecord[] {
  const taken = new Set(services(core).flatMap((one) => recordsAt(one, "ports").map((port) => port["nodePort"])));
  return recordsAt(spec, "ports").map((port) => {
    if (port["nodePort"]) return port;
    let nodePort = FIRST_NODE_PORT;
    while (taken.has(nodePort) && nodePort < LAST_NODE_PORT) nodePort++;
    taken.add(nodePort);
    return { ...port, nodePort };
  });
}
