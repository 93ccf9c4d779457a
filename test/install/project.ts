import { expect, inject, vi } from "vitest";
import { type Client as ApiClient, createClient } from "../../packages/client/src/index.ts";
import { Client } from "../world/client.ts";
import { kubectlJson } from "./node.ts";
import type {} from "./setup.ts";

export const SOON = { timeout: 120_000, interval: 250 };

/** A project of the installation that a test file has for itself, with the words of a person who works in it. */
export class Project {
  readonly api: Client;
  readonly id: string;
  readonly namespace: string;
  readonly #client: ApiClient;

  private constructor(api: Client, client: ApiClient, { id, namespace }: { id: string; namespace: string }) {
    this.api = api;
    this.#client = client;
    this.id = id;
    this.namespace = namespace;
  }

  static async open(name: string): Promise<Project> {
    const { url, token, clusterId } = inject("installed");
    const api = new Client(`${url}/api/v1`, { authorization: `Bearer ${token}` });
    const { body, status } = await api.post("/projects", { name, cluster_id: clusterId });
    expect(status, JSON.stringify(body)).toBe(201);
    return new Project(api, createClient({ url, token }), body);
  }

  path = (app: string, rest = "", query = ""): string =>
    `/apps/${this.namespace}/${app}${rest}?project_id=${this.id}${query}`;

  async create(name: string, components: readonly object[]): Promise<void> {
    const made = await this.api.post("/apps", { name, project_id: this.id, components });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }

  /** An app of one component, `web`. */
  createOne = (name: string, workload_spec: object): Promise<void> =>
    this.create(name, [{ name: "web", workload_spec }]);

  /** Sends an operation or a change of an app. */
  async change(method: "POST" | "PATCH", path: string, body: object): Promise<void> {
    const answer = await this.api.send(method, path, { body });
    expect([200, 201, 202], JSON.stringify(answer.body)).toContain(answer.status);
  }

  /** Waits until the cluster has reported of what is wanted now that it is like this. */
  async reaches(app: string, wanted: object): Promise<void> {
    await vi.waitFor(async () => {
      const { body } = await this.api.get(this.path(app));
      expect(body).toMatchObject({ observed_generation: body.generation, ...wanted });
    }, SOON);
  }

  /** Runs a command in a container of a component, and waits for its end. */
  async exec(app: string, component: string, command: readonly string[]) {
    const output = { stdout: "", stderr: "" };
    const place = { namespace: this.namespace, name: app, project_id: this.id, component };
    const session = await this.#client.exec(
      { ...place, command: [...command], tty: false },
      {
        onOutput(channel, data) {
          output[channel] += new TextDecoder().decode(data);
        },
      },
    );
    session.end();
    return { code: await session.exited, ...output };
  }

  /** The address of a Service, which the machine reaches as the node does. */
  async urlOf(service: string): Promise<string> {
    const { spec } = await kubectlJson<{ spec: { clusterIP: string } }>(
      ...["--namespace", this.namespace, "get", "service", service],
    );
    return `http://${spec.clusterIP}:8080`;
  }

  page = async (service: string): Promise<string> => (await fetch(await this.urlOf(service))).text();
}
