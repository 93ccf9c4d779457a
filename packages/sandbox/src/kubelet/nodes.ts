import { type Controller, NOTHING, type Outcome, type Write } from "../controllers/control.ts";
import { type Condition, withCondition } from "../controllers/pod.ts";
import { stampOf } from "../controllers/writes.ts";
import { nodeIp } from "./pod-status.ts";
import type { SimulationSettings } from "./settings.ts";

export const SIMULATED = "sandbox.binnacle.dev/simulated";
const KUBELET_VERSION = "v1.37.1+simulated";

const nameOf = (index: number): string => `simulated-node-${index + 1}`;

/** Nodes register anew when somebody deletes them, as real ones do. */
export const nodes = (settings: SimulationSettings): Controller => ({
  name: "node",
  concerns: ({ resource, type, object }) =>
    resource === "nodes" && type === "DELETED" ? [{ resource, name: object.metadata.name }] : [],
  step({ name }, view, nowMs) {
    const isOurs = Array.from({ length: settings.nodes }, (_, index) => nameOf(index)).includes(name);
    return isOurs && !view.get("nodes", name) ? registered(name, settings, nowMs) : NOTHING;
  },
});

export const nodePlaces = ({ nodes: count }: SimulationSettings) =>
  Array.from({ length: count }, (_, index) => ({ resource: "nodes", name: nameOf(index) }));

function registered(name: string, { nodeCapacity }: SimulationSettings, nowMs: number): Outcome {
  const object = {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        [SIMULATED]: "true",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "simulated",
        "topology.kubernetes.io/region": "simulated",
      },
    },
    spec: {},
  };
  const status = {
    addresses: [
      { type: "InternalIP", address: nodeIp(name) },
      { type: "Hostname", address: name },
    ],
    allocatable: nodeCapacity,
    capacity: nodeCapacity,
    conditions: nodeConditions(nowMs),
    nodeInfo: {
      architecture: "amd64",
      bootID: "",
      containerRuntimeVersion: "simulated://1.0.0",
      kernelVersion: "simulated",
      kubeProxyVersion: KUBELET_VERSION,
      kubeletVersion: KUBELET_VERSION,
      machineID: "",
      operatingSystem: "linux",
      osImage: "Simulated by the Binnacle sandbox",
      systemUUID: "",
    },
  };
  const writes: Write[] = [
    { verb: "create", resource: "nodes", object, manager: "kubelet" },
    { verb: "status", resource: "nodes", object: { ...object, status }, manager: "kubelet" },
  ];
  return { writes, wakeAtMs: null };
}

function nodeConditions(nowMs: number): readonly Condition[] {
  const pressure = (type: string, reason: string, message: string): Condition => ({
    type,
    status: "False",
    reason,
    message,
  });
  return [
    pressure("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    pressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    pressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    {
      type: "Ready",
      status: "True",
      reason: "KubeletReady",
      message: "this node is simulated and always ready",
    } as const,
  ].reduce<readonly Condition[]>(
    (all, one) => withCondition(all, { ...one, lastHeartbeatTime: stampOf(nowMs) } as Condition, nowMs),
    [],
  );
}
