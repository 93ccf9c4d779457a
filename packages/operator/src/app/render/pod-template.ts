import { API_GROUP } from "@binnacle/contract";
import type { WorkloadContext } from "./component-context.ts";
import { configurationChecksum, environmentFields } from "./configuration.ts";
import { fieldsOf, present, someOf } from "./present.ts";
import { probeFields } from "./probes.ts";
import type { Workload } from "./rendering.ts";
import { podVolumes, volumeMounts } from "./volumes.ts";

export const CHECKSUM_ANNOTATION = `${API_GROUP}/configuration-checksum`;
const TERMINATION_SECONDS = 30;
/** The autoscaler measures use against what is requested. */
const CPU_REQUEST_TO_SCALE_BY = "100m";
/** What Kubernetes takes for the name of a container's port; a Service takes more. */
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

export function podTemplate(context: WorkloadContext, { restartPolicy, serviceAccountName }: TemplateOptions = {}) {
  const { component, spec, labels, pullSecrets, podSecurity } = context;
  const checksum = configurationChecksum(context);
  const pulls = serviceAccountName === undefined ? pullSecrets.map((name) => ({ name })) : [];
  return {
    metadata: present({ labels, annotations: checksum ? { [CHECKSUM_ANNOTATION]: checksum } : undefined }),
    spec: present({
      serviceAccountName,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy,
      terminationGracePeriodSeconds: TERMINATION_SECONDS,
      imagePullSecrets: someOf(pulls),
      securityContext: present({
        seccompProfile: { type: "RuntimeDefault" },
        fsGroup: someOf(spec.volumes) && VOLUME_GROUP,
        fsGroupChangePolicy: someOf(spec.volumes) && "OnRootMismatch",
      }),
      containers: [
        present({
          name: component.name,
          image: spec.image,
          command: someOf(spec.command),
          args: someOf(spec.args),
          ports: containerPorts(spec),
          ...environmentFields(context),
          resources: resources(spec),
          ...probeFields(spec.probes),
          volumeMounts: volumeMounts(spec),
          securityContext: {
            allowPrivilegeEscalation: false,
            ...(podSecurity === "restricted" ? WITHOUT_ROOT : {}),
          },
        }),
      ],
      volumes: podVolumes(context),
    }),
  };
}

const containerPorts = ({ ports = [] }: Workload) =>
  someOf(
    ports.map(({ name, port, protocol = "TCP" }) =>
      present({ name: CONTAINER_PORT_NAME.test(name) ? name : undefined, containerPort: port, protocol }),
    ),
  );

function resources({ resources: { requests = {}, limits = {} } = {}, autoscale }: Workload) {
  const cpu = autoscale && limits.cpu === undefined ? CPU_REQUEST_TO_SCALE_BY : undefined;
  return fieldsOf(
    present({ requests: fieldsOf(present({ cpu, ...present(requests) })), limits: fieldsOf(present(limits)) }),
  );
}
