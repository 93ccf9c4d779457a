import { type DesiredComponent, WORKLOAD_KINDS } from "@binnacle/contract";
import fc from "fast-check";
import { standing } from "./rendered.fixture.ts";
import type { Publisher, Workload } from "./rendering.ts";

/** Apps of every shape that the control plane lets through, for laws that hold for all of them. */

export const dnsLabel = (maxLength: number) =>
  fc.stringMatching(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/).filter((text) => text.length > 0 && text.length <= maxLength);

export const exportKey = fc
  .stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?$/)
  .filter((text) => text.length > 0);
const envName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,20}$/);
const port = fc.integer({ min: 1, max: 65_535 });
const seconds = fc.integer({ min: 1, max: 600 });

const probe = fc.oneof(
  fc.record({ port, path: fc.constant("/healthz"), initial_delay_seconds: fc.nat(60) }, { requiredKeys: ["port"] }),
  fc.record({ command: fc.constant<string[]>(["true"]), period_seconds: seconds }, { requiredKeys: ["command"] }),
);

const workloadSpec: fc.Arbitrary<Workload> = fc
  .record(
    {
      kind: fc.constantFrom(...WORKLOAD_KINDS),
      image: fc.constant("registry.example.com/app:1"),
      command: fc.array(fc.string(), { maxLength: 2 }),
      args: fc.array(fc.string(), { maxLength: 2 }),
      replicas: fc.integer({ min: 1, max: 5 }),
      ports: fc.uniqueArray(
        fc.record({ name: dnsLabel(15), port, protocol: fc.constantFrom("TCP" as const, "UDP" as const) }),
        { maxLength: 3, comparator: (a, b) => a.name === b.name || a.port === b.port },
      ),
      env: fc.uniqueArray(fc.record({ name: envName, value: fc.string() }), {
        maxLength: 4,
        selector: (one) => one.name,
      }),
      resources: fc.constantFrom<NonNullable<Workload["resources"]>>(
        {},
        { requests: {} },
        { requests: { cpu: "50m" }, limits: { memory: "1Gi" } },
      ),
      probes: fc.record({ liveness: probe, readiness: probe, startup: probe }, { requiredKeys: [] }),
      volumes: fc.uniqueArray(
        fc
          .record({ name: dnsLabel(63), size_gb: fc.integer({ min: 1, max: 9 }) })
          .map((volume) => ({ ...volume, mount_path: `/data/${volume.name}` })),
        { maxLength: 2, selector: ({ name }) => name },
      ),
      autoscale: fc.constant({ min: 1, max: 4, cpu_percent: 70 }),
      labels: fc.dictionary(dnsLabel(20), dnsLabel(20), { maxKeys: 2 }),
      annotations: fc.dictionary(dnsLabel(20), fc.string(), { maxKeys: 2 }),
      node_selector: fc.dictionary(dnsLabel(20), dnsLabel(20), { maxKeys: 2 }),
      tolerations: fc.constantFrom<NonNullable<Workload["tolerations"]>>([], [{ key: "spot", operator: "Exists" }]),
      affinity: fc.constantFrom<NonNullable<Workload["affinity"]>>(
        {},
        { node_affinity: {}, pod_affinity: { required: [] }, pod_anti_affinity: { required: [{}] } },
      ),
      topology_spread: fc.constantFrom<NonNullable<Workload["topology_spread"]>>([], [{ topology_key: "zone" }]),
      security_context: fc.constantFrom<NonNullable<Workload["security_context"]>>({}, { run_as_user: 7 }),
      termination_grace_seconds: seconds,
    },
    { requiredKeys: ["image"] },
  )
  .map((spec) => (spec.kind === "cronjob" ? { ...spec, schedule: "0 3 * * *" } : spec))
  .map(({ volumes, ...spec }) => (spec.kind === "daemonset" || !volumes ? spec : { ...spec, volumes }));

const shape = fc.record({
  name: dnsLabel(24),
  spec: workloadSpec,
  exports: fc.dictionary(
    exportKey,
    fc.string().map((text) => text.replaceAll("${", "$${")),
    { maxKeys: 3 },
  ),
  needs: fc.array(fc.record({ at: fc.nat(), byExport: fc.boolean() }), { maxLength: 3 }),
  takesAddon: fc.boolean(),
});

export const addon: Publisher = {
  keys: ["host", "password"],
  exports: { host: { value: "db.market.svc" }, password: { secret: { name: "db-addon-exports", key: "password" } } },
};
export const ADDON = "the-addon-that-no-workload-is-called-after";

/** Each needs only those before it, so there is an order to start them in; they are listed in another. */
export const someComponents: fc.Arbitrary<DesiredComponent[]> = fc
  .uniqueArray(shape, { minLength: 1, maxLength: 6, selector: ({ name }) => name })
  .map((shapes) =>
    shapes.map(({ name, spec, exports, needs, takesAddon }, index): DesiredComponent => {
      const earlier = shapes.slice(0, index).map((one) => one.name);
      const needed =
        earlier.length === 0 ? [] : needs.map(({ at, byExport }) => ({ to: earlier[at % earlier.length], byExport }));
      const named = (isByExport: boolean) =>
        needed.flatMap(({ to, byExport }) => (to !== undefined && byExport === isByExport ? [to] : []));
      const refs = [...named(true), ...(takesAddon ? [ADDON] : [])];
      return {
        name,
        type: "workload",
        workload_spec: spec,
        exports,
        depends_on: named(false),
        export_refs: refs.map((component) => ({ component })),
      };
    }),
  )
  .map((components) => [...components, standing(ADDON)])
  .chain((components) => fc.shuffledSubarray(components, { minLength: components.length }));

export const someSecrets = (components: readonly DesiredComponent[]) =>
  fc.record(
    Object.fromEntries(
      components.map(({ name }) => [
        name,
        fc.dictionary(fc.stringMatching(/^[A-Za-z0-9_-]{1,10}$/), fc.string(), { maxKeys: 2 }),
      ]),
    ),
    { requiredKeys: [] },
  );
