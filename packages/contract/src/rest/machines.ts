import Type from "typebox";
import { AnyMap, Nullable, strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { BOOTSTRAP_STAGES, BOOTSTRAP_STATUSES } from "../states.ts";

const Secret = (example: string) => Type.String({ examples: [example] });

/** Who a machine is, and the token from its user data that proves it. */
const machine = (token: string) => ({
  cluster_id: Uuid(),
  node: Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    examples: ["agent-1"],
  }),
  token: Type.String({ minLength: 1, maxLength: 200, pattern: "^[!-~]+$", examples: [token] }),
});

export const bootstrapNode = operation({
  id: "bootstrapNode",
  method: "POST",
  path: "/node-bootstrap",
  tag: "Clusters",
  summary: "Fetch what a new machine needs to join its cluster",
  description:
    "Called by each machine that Binnacle has made, with the token from its user data. An answer may be lost on its way, so the " +
    "token answers again, to the same address, for ten minutes or until the machine reports its next step. A token that was used " +
    "otherwise, has expired or is not known is a 401 in the same words. After too many attempts from one address: 429.",
  credentials: "none",
  body: Type.Object(machine("<NODE_TOKEN>"), strict),
  success: [
    200,
    Type.Object(
      {
        join_token: Secret("<JOIN_TOKEN>"),
        agent_token: Nullable(
          Type.String({
            description:
              "The join token of agents, which the control plane has to know; null where agents have the same.",
            examples: ["<JOIN_TOKEN_OF_AGENTS>"],
          }),
        ),
        ca_certificates: Nullable(
          Type.String({
            description: "Authorities that it is to trust beside those of its system.",
            examples: ["-----BEGIN CERTIFICATE-----\nMIIBIjANBg==\n-----END CERTIFICATE-----\n"],
          }),
        ),
        registries: {
          ...Nullable(AnyMap({})),
          description: "The content of `registries.yaml` of k3s; null where images are pulled from where they are.",
          examples: [{ mirrors: { "docker.io": { endpoint: ["https://mirror.example.com/v2/docker.io"] } } }],
        },
        operator: Nullable(
          Type.Object({
            chart_url: Type.String({ examples: ["https://binnacle.example.com/charts/binnacle-operator-0.1.0.tgz"] }),
            hub_url: Type.String({ examples: ["wss://binnacle.example.com/hub/v1"] }),
            hub_proxy: Nullable(
              Type.String({
                description: "The value `hub.proxy` of the chart; null where the hub is reached without a proxy.",
                examples: ["http://proxy.example.com:3128"],
              }),
            ),
            cluster_id: Uuid(),
            token: Secret("<AGENT_TOKEN>"),
            namespace: Type.String({ examples: ["binnacle-system"] }),
            image: Type.Object(
              {
                registry: Type.Optional(Type.String({ examples: ["binnacle.example.com"] })),
                digest: Type.Optional(Type.String({ examples: [`sha256:${"0".repeat(64)}`] })),
              },
              { description: "The values `image` of the chart; without a registry the chart's default is pulled." },
            ),
          }),
        ),
      },
      {
        title: "NodeBootstrap",
        description: "`operator` and `agent_token` are null except for the node `control-plane`.",
      },
    ),
  ],
  failures: [401, 429],
});

export const reportNode = operation({
  id: "reportNode",
  method: "POST",
  path: "/node-reports",
  tag: "Clusters",
  summary: "Report how far a new machine has come, with the next lines of its log",
  description:
    "Called by each machine that Binnacle has made, with the token for reports from its user data, which can do nothing else. The " +
    "lines go to the log of the job that makes the machine, with secrets masked; those that were received before are skipped. A " +
    "machine has 256 KiB of log for each job; what is beyond is dropped. A token that has expired or is not known is a 401. More " +
    "than 60 reports of a machine within a minute, or too many refused attempts from one address: 429.",
  credentials: "none",
  body: Type.Object(
    {
      ...machine("<REPORT_TOKEN>"),
      stage: Type.Enum(BOOTSTRAP_STAGES, { description: "The step that it is in." }),
      status: Type.Enum(BOOTSTRAP_STATUSES, {
        description: "`completed` once it is a node of the cluster; `failed` where the step has failed.",
      }),
      message: Type.Optional(
        Type.String({ maxLength: 500, description: "Why it has failed.", examples: ["no route"] }),
      ),
      first_line: Type.Integer({ minimum: 0, maximum: 1_000_000, description: "The number of lines before these." }),
      lines: Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 200, examples: [["configure k3s"]] }),
    },
    strict,
  ),
  success: [
    200,
    Type.Object({ next_line: Type.Integer({ description: "The number of lines that were received so far." }) }),
  ],
  failures: [401, 429],
});
