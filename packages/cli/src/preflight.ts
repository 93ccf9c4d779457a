import { type Call, durationMs, type GivenFor, isTable, send, textOf } from "./command.ts";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";
import { column, view } from "./output.ts";
import { type PullProblem, pullProblem } from "./pull-problem.ts";
import { until } from "./waiting.ts";

/** With more nodes than that, those that are tried stand for the others. */
const MOST_NODES = 100;
const LABEL = "binnacle.dev/preflight";

/** What one node has made of the image. */
interface Finding {
  readonly node: string;
  readonly outcome: "pulled" | "failed" | "unknown";
  readonly cause: PullProblem["cause"] | null;
  readonly message: string;
  /** In the words of the node. */
  readonly said: string | null;
  readonly ways: readonly string[];
}

const FINDING = view<Finding>(
  "node",
  column("NODE", "node"),
  column("IMAGE", "outcome"),
  column("MESSAGE", "message"),
  column("SAID", "said", true),
);

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: object;
  readonly terminated?: { readonly exitCode?: number; readonly message?: string };
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly containerStatuses?: readonly { readonly state?: ContainerState }[];
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
}

/**
 * Has nodes pull the operator's image, because it is the node that pulls, and not the pod: the name of the registry has to resolve there,
 * and its certificate to be trusted. The pods run nothing but the version of Node.js, and are removed.
 */
export async function preflight(
  call: Call,
  { input, options }: GivenFor<"getInstallInstructions">,
): Promise<ExitCode | undefined> {
  const { operator_image: image } = await send(call, "getInstallInstructions", input);
  const kube = kubectlOf(call, textOf(options["kubeContext"]), String(options["namespace"]));
  await call.confirm(`Start pods with ${image} in ${await kube.place()}? They are removed at the end.`);
  const run = call.host.now().toString(36);
  const nodes = options["allNodes"] ? await kube.schedulableNodes() : [null];
  const pods = nodes.map((node, index) => podOf(`binnacle-preflight-${run}-${index}`, run, image, node));
  let findings: readonly Finding[];
  try {
    await kube.text(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: pods }));
    findings = await outcomes(call, kube, {
      run,
      image,
      timeoutMs: durationMs("--timeout", String(options["timeout"])),
    });
  } finally {
    await kube.text(["delete", "pods", "--selector", `${LABEL}=${run}`, "--wait=false", "--ignore-not-found"]);
  }
  return showFindings(call, findings);
}

function showFindings(call: Call, findings: readonly Finding[]): ExitCode | undefined {
  if (isTable(call)) call.list(FINDING, findings);
  else call.show(null, { findings });
  const failed = findings.filter(({ outcome }) => outcome !== "pulled");
  if (failed.length === 0) return undefined;
  const ways = new Set(failed.flatMap((finding) => finding.ways));
  if (ways.size > 0) call.info(["", "What helps, one of:", ...[...ways].map((way) => `  - ${way}`)].join("\n"));
  return failed.some(({ outcome }) => outcome === "failed") ? EXIT.failed : EXIT.timedOut;
}

type Kubectl = ReturnType<typeof kubectlOf>;

function kubectlOf({ host }: Call, context: string | undefined, namespace: string) {
  const access = context ? ["--context", context] : [];
  async function text(args: readonly string[], given?: string): Promise<string> {
    const { code, out, err } = await host.kubectl([...access, "--namespace", namespace, ...args], given);
    if (code !== 0) throw new CliError(`kubectl ${args[0]}: ${printable(err.trim())}`, EXIT.failed);
    return out;
  }
  const items = async <T>(...args: string[]) =>
    (JSON.parse(await text(["get", ...args, "--output", "json"])) as { items: T[] }).items;
  return {
    text,
    items,
    async place(): Promise<string> {
      const name = context ?? (await text(["config", "current-context"])).trim();
      return `the namespace ${namespace} of the kubectl context ${name}`;
    },
    async schedulableNodes(): Promise<string[]> {
      const nodes = await items<{ metadata: { name: string }; spec?: { unschedulable?: boolean } }>("nodes");
      const usable = nodes.filter(({ spec }) => !spec?.unschedulable);
      return usable.slice(0, MOST_NODES).map(({ metadata }) => metadata.name);
    },
  };
}

interface Watched {
  readonly run: string;
  readonly image: string;
  readonly timeoutMs: number;
}

async function outcomes(call: Call, kube: Kubectl, { run, image, timeoutMs }: Watched): Promise<readonly Finding[]> {
  let seen: readonly (readonly [Pod, Finding])[] = [];
  await until(call, timeoutMs, async () => {
    const pods = await kube.items<Pod>("pods", "--selector", `${LABEL}=${run}`);
    seen = pods.map((pod) => [pod, findingOf(pod, image)] as const);
    return seen.length > 0 && seen.every(([, { outcome }]) => outcome !== "unknown") ? seen : null;
  });
  if (seen.length === 0) throw new CliError("The pods were removed while they were looked at.", EXIT.failed);
  // A kubelet that waits before it tries again may leave the reason out, which is then in an event.
  return Promise.all(
    seen.map(async ([pod, finding]) => {
      if (finding.cause !== "unknown") return finding;
      const events = await kube.items<{ message?: string }>(
        "events",
        "--field-selector",
        `involvedObject.name=${pod.metadata.name},reason=Failed`,
      );
      const said = events.map(({ message }) => message ?? "").find((message) => message.includes("pull"));
      return said ? failedWith(finding.node, pullProblem(image, said), said) : finding;
    }),
  );
}

const failedWith = (node: string, { cause, message, ways }: PullProblem, said: string): Finding => ({
  node,
  outcome: "failed",
  cause,
  message,
  said,
  ways,
});

/** What the pod's status says so far. */
function findingOf({ spec, status }: Pod, image: string): Finding {
  const node = spec.nodeName ?? "(none yet)";
  const { waiting, running, terminated } = status?.containerStatuses?.[0]?.state ?? {};
  const about = { node, cause: null, ways: [] } as const;
  if (running || terminated?.exitCode === 0)
    return { ...about, outcome: "pulled", message: "The node has the image.", said: null };
  if (waiting?.reason && /ImagePull|InvalidImageName|RegistryUnavailable|ImageInspect/.test(waiting.reason)) {
    const said = waiting.message ?? waiting.reason;
    return failedWith(node, pullProblem(image, said), said);
  }
  const broken = terminated?.message ?? (waiting?.reason === "ContainerCreating" ? undefined : waiting?.message);
  if (terminated || broken) {
    const said = broken ?? `It ended with ${terminated?.exitCode}.`;
    return { ...about, outcome: "failed", message: "The node has the image and cannot run it.", said };
  }
  const waits = status?.conditions?.find(({ type, message }) => type === "PodScheduled" && message)?.message;
  return {
    ...about,
    outcome: "unknown",
    message: waits ? "No node takes the pod." : "The node has not ended the pull in time.",
    said: waits ?? null,
  };
}

/** As restricted as the operator's own pod, and with nothing of the cluster in it. */
function podOf(name: string, run: string, image: string, node: string | null) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { [LABEL]: run, "app.kubernetes.io/managed-by": "binnacle-cli" } },
    spec: {
      ...(node === null ? {} : { nodeName: node }),
      restartPolicy: "Never",
      activeDeadlineSeconds: 3600,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      tolerations: node === null ? [] : [{ operator: "Exists" }],
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "preflight",
          image,
          // As the chart of the operator has it: an image that was imported on the node counts.
          imagePullPolicy: "IfNotPresent",
          command: ["/usr/local/bin/node", "--version"],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "128Mi" } },
        },
      ],
    },
  };
}
