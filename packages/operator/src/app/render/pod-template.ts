import { API_GROUP, DEFAULT_ACCESS_MODE } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { fieldsOf, objectOf, present, someOf, type WorkloadContext } from "./component-context.ts";
import { configurationChecksum, environmentFields } from "./environment.ts";
import { fileMounts, fileVolumes } from "./files.ts";
import type { Workload } from "./rendering.ts";
import { schedulingFields } from "./scheduling.ts";

export const CHECKSUM_ANNOTATION = `${API_GROUP}/configuration-checksum`;
const TERMINATION_SECONDS = 30;
/** The autoscaler measures use against what is requested. */
const CPU_REQUEST_TO_SCALE_BY = "100m";
/** The pattern of container port names, which is narrower than that of Service ports. */
const CONTAINER_PORT_NAME = /^(?=.*[a-z])(?!.*--)[a-z0-9-]+$/;
/** Which group it is does not matter, only that images that do not run as root can write to their volumes. */
const VOLUME_GROUP = 2000;

/** The level `restricted` asks for this by name; elsewhere it would break images that run as root. */
const WITHOUT_ROOT = { runAsNonRoot: true, capabilities: { drop: ["ALL"] } };

interface TemplateOptions {
  readonly restartPolicy?: "Never";
  /** Instead of pull secrets in the template. */
  readonly serviceAccountName?: string;
}

/** Those that the operator writes itself come last, so nothing that a component says replaces one. */
export const labelsOf = ({ spec, labels }: WorkloadContext) => ({ ...spec.labels, ...labels });

export const terminationSeconds = ({ termination_grace_seconds = TERMINATION_SECONDS }: Workload): number =>
  termination_grace_seconds;

function containerSecurity({ spec: { security_context = {} }, podSecurity }: WorkloadContext) {
  const { run_as_user, run_as_non_root, read_only_root_filesystem } = security_context;
  return present({
    runAsUser: run_as_user,
    runAsNonRoot: run_as_non_root,
    readOnlyRootFilesystem: read_only_root_filesystem,
    allowPrivilegeEscalation: false,
    ...(podSecurity === "restricted" ? WITHOUT_ROOT : {}),
  });
}

export function podTemplate(context: WorkloadContext, { restartPolicy, serviceAccountName }: TemplateOptions = {}) {
  const { component, spec, pullSecrets } = context;
  const checksum = configurationChecksum(context);
  const pulls = serviceAccountName === undefined ? pullSecrets.map((name) => ({ name })) : [];
  const annotations = { ...spec.annotations, ...(checksum ? { [CHECKSUM_ANNOTATION]: checksum } : {}) };
  return {
    metadata: present({ labels: labelsOf(context), annotations: fieldsOf(annotations) }),
    spec: present({
      serviceAccountName,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy,
      terminationGracePeriodSeconds: terminationSeconds(spec),
      imagePullSecrets: someOf(pulls),
      securityContext: present({
        seccompProfile: { type: "RuntimeDefault" },
        fsGroup: someOf(spec.volumes) && VOLUME_GROUP,
        fsGroupChangePolicy: someOf(spec.volumes) && "OnRootMismatch",
      }),
      initContainers: someOf(furtherContainers(context)),
      containers: [
        present({
          name: component.name,
          image: spec.image,
          command: someOf(spec.command),
          args: someOf(spec.args),
          ports: containerPorts(spec),
          ...environmentFields(context),
          resources: resources(spec.resources, spec.autoscale !== undefined),
          ...probeFields(spec.probes),
          volumeMounts: volumeMounts(spec),
          securityContext: containerSecurity(context),
        }),
      ],
      ...schedulingFields(context),
      volumes: podVolumes(context),
    }),
  };
}

/**
 * Those that prepare come first, in their order. A sidecar is one of them that Kubernetes keeps running: it starts before the
 * container of the component, ends after it, and does not keep a Job from being done.
 */
function furtherContainers(context: WorkloadContext) {
  const { init_containers = [], sidecars = [], autoscale } = context.spec;
  const rendered = (it: (typeof sidecars)[number], restartPolicy?: "Always") =>
    present({
      name: it.name,
      image: it.image,
      restartPolicy,
      command: someOf(it.command),
      args: someOf(it.args),
      ...environmentFields(context, context.ownEnvironments.get(it.name)),
      resources: resources(it.resources, autoscale !== undefined && restartPolicy !== undefined),
      volumeMounts: volumeMounts(context.spec),
      securityContext: containerSecurity(context),
    });
  return [...init_containers.map((it) => rendered(it)), ...sidecars.map((it) => rendered(it, "Always"))];
}

const containerPorts = ({ ports = [] }: Workload) =>
  someOf(
    ports.map(({ name, port, protocol = "TCP" }) =>
      present({ name: CONTAINER_PORT_NAME.test(name) ? name : undefined, containerPort: port, protocol }),
    ),
  );

/** Without a request of every container that stays, the autoscaler knows nothing to measure against. */
function resources({ requests = {}, limits = {} }: NonNullable<Workload["resources"]> = {}, isScaledBy: boolean) {
  const cpu = isScaledBy && limits.cpu === undefined ? CPU_REQUEST_TO_SCALE_BY : undefined;
  return fieldsOf(
    present({ requests: fieldsOf(present({ cpu, ...present(requests) })), limits: fieldsOf(present(limits)) }),
  );
}

type Probes = NonNullable<Workload["probes"]>;
type Probe = NonNullable<Probes["liveness"]>;

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_FAILURES = 3;

function probe({ path, port, command, ...timing }: Probe) {
  return present({
    httpGet: path !== undefined && port !== undefined ? { path, port } : undefined,
    tcpSocket: path === undefined && port !== undefined ? { port } : undefined,
    exec: command && { command },
    initialDelaySeconds: timing.initial_delay_seconds || undefined,
    periodSeconds: timing.period_seconds,
    timeoutSeconds: timing.timeout_seconds,
    failureThreshold: timing.failure_threshold,
  });
}

const probeFields = ({ liveness, readiness, startup }: Probes = {}) =>
  present({
    livenessProbe: liveness && probe(liveness),
    readinessProbe: readiness && probe(readiness),
    startupProbe: startup && probe(startup),
  });

/** How long a pod may take to start before its startup probe gives it up. */
export function startupSeconds({ startup }: Probes = {}): number {
  if (!startup) return 0;
  const { initial_delay_seconds = 0, period_seconds, failure_threshold } = startup;
  return initial_delay_seconds + (period_seconds ?? DEFAULT_PERIOD_SECONDS) * (failure_threshold ?? DEFAULT_FAILURES);
}

type Volume = NonNullable<Workload["volumes"]>[number];

const claimSpec = ({ size_gb, storage_class, access_mode = DEFAULT_ACCESS_MODE }: Volume) =>
  present({
    accessModes: [access_mode],
    storageClassName: storage_class,
    resources: { requests: { storage: `${size_gb}Gi` } },
  });

/** Each replica of a StatefulSet has volumes of its own, whatever their number: the templates cannot be added later. */
const hasOwnVolumes = ({ kind }: Workload): boolean => kind === "statefulset";

export function claimObjects(context: WorkloadContext): KubeObject[] {
  if (hasOwnVolumes(context.spec)) return [];
  return (context.spec.volumes ?? []).map((volume) =>
    objectOf(context, "v1", "PersistentVolumeClaim", context.names.claim(volume.name), { spec: claimSpec(volume) }),
  );
}

export const claimTemplates = ({ spec, labels }: WorkloadContext) =>
  someOf(
    (spec.volumes ?? []).map((volume) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: volume.name, labels },
      spec: claimSpec(volume),
    })),
  );

const volumeMounts = (spec: Workload) =>
  someOf([
    ...(spec.volumes ?? []).map(({ name, mount_path }) => ({ name, mountPath: mount_path })),
    ...fileMounts(spec),
  ]);

/** The claims of a StatefulSet come from its templates. */
function podVolumes(context: WorkloadContext) {
  const { spec, names } = context;
  const claimed = hasOwnVolumes(spec) ? [] : (spec.volumes ?? []);
  return someOf([
    ...claimed.map(({ name }) => ({ name, persistentVolumeClaim: { claimName: names.claim(name) } })),
    ...fileVolumes(context),
  ]);
}
