import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPacer } from "../../packages/server/src/cloud/aws/aws-pacer.adapter.ts";
import type { QueryOptions } from "../../packages/server/src/cloud/aws/aws-query.adapter.ts";
import { startDaemon, until } from "../kube/daemon.ts";
import { freePort } from "../world/free-port.ts";
import { requiredTools } from "./tools.ts";

/** The image that the module looks for, in both architectures, as Canonical publishes it. */
const IMAGES = ["x86_64", "arm64"].map((architecture, index) => ({
  ami_id: `ami-0000000${index}`,
  name: `ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-${architecture === "arm64" ? "arm64" : "amd64"}-server-20260101`,
  state: "available",
  public: true,
  owner_id: "099720109477",
  image_location: "amazon/ubuntu",
  image_type: "machine",
  description: "Ubuntu 24.04 LTS",
  architecture,
  virtualization_type: "hvm",
  hypervisor: "xen",
  root_device_type: "ebs",
  root_device_name: "/dev/sda1",
  sriov: "simple",
}));

export interface Cloud {
  readonly endpoint: string;
  readonly startRecording: () => Promise<void>;
  /** The actions that were called since the recording has started, such as `ec2:CreateVpc`. */
  readonly recordedActions: () => Promise<ReadonlySet<string>>;
  /** The calls themselves, with their parameters. */
  readonly recordedCalls: () => Promise<readonly RecordedCall[]>;
  /** From now on only known keys are accepted, and only what their policies allow. */
  readonly requireAuthorization: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface RecordedCall {
  readonly action: string;
  readonly parameters: URLSearchParams;
}

interface Recorded {
  readonly headers: { readonly Authorization?: string };
  readonly body: string;
  readonly body_encoded?: boolean;
}

function callOf({ headers, body, body_encoded }: Recorded): readonly RecordedCall[] {
  const service = /\/([a-z0-9-]+)\/aws4_request/.exec(headers.Authorization ?? "")?.[1];
  const text = body_encoded ? Buffer.from(body, "base64").toString() : body;
  const parameters = new URLSearchParams(text);
  const action = parameters.get("Action");
  return service && action ? [{ action: `${service}:${action}`, parameters }] : [];
}

/** Starts moto, a server with the APIs of AWS. */
export async function startCloud(folder: string): Promise<Cloud> {
  const images = join(folder, "images.json");
  writeFileSync(images, JSON.stringify(IMAGES));
  process.env["MOTO_AMIS_PATH"] = images;
  // The default is a file of the working directory, which another server would append to.
  process.env["MOTO_RECORDER_FILEPATH"] = join(folder, "recording");
  // What moto does otherwise than AWS is corrected there.
  process.env["PYTHONPATH"] = fileURLToPath(new URL("./moto", import.meta.url));
  const port = await freePort();
  const daemon = startDaemon(requiredTools().moto, { port, host: "127.0.0.1" }, join(folder, "moto.log"));
  const endpoint = `http://127.0.0.1:${port}`;
  await until("moto", async () => {
    daemon.check();
    return fetch(`${endpoint}/moto-api/`).then(
      (response) => response.ok,
      () => false,
    );
  });
  const post = async (path: string, body = "") => {
    const response = await fetch(`${endpoint}/moto-api/${path}`, { method: "POST", body });
    if (!response.ok) throw new Error(`moto answered ${response.status} to ${path}.`);
  };
  const recordedCalls = async () => {
    const recording = await fetch(`${endpoint}/moto-api/recorder/download-recording`);
    const lines = (await recording.text()).split("\n").filter((line) => line !== "");
    return lines.flatMap((line) => callOf(JSON.parse(line)));
  };
  return {
    endpoint,
    startRecording: () => post("recorder/start-recording"),
    recordedActions: async () => new Set((await recordedCalls()).map(({ action }) => action)),
    recordedCalls,
    requireAuthorization: () => post("reset-auth", "0"),
    stop: () => daemon.stop("SIGKILL"),
  };
}

/** For calls of the server with the APIs of AWS. */
export const queryOptions = (endpoint: string): QueryOptions => ({
  endpoint,
  deadlineMs: 60_000,
  backOffMs: 50,
  random: Math.random,
  pacer: createPacer(),
});
