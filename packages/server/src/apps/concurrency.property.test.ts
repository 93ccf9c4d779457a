import { type Answer, startWorld } from "@binnacle/world";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openShop, WEB, workload } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

/** The simplest model of what the operations change. */
interface Model {
  readonly replicas: ReadonlyMap<string, number>;
  readonly secrets: ReadonlySet<string>;
  readonly isPaused: boolean;
}

interface Operation {
  readonly label: string;
  send(name: string): Promise<Answer<AppBody>>;
  /** Null where the model refuses. */
  apply(model: Model): Model | null;
}

interface AppBody {
  readonly revision: number;
  readonly generation: number;
  readonly paused: boolean;
  readonly components: readonly {
    readonly name: string;
    readonly secrets: readonly string[];
    readonly workload_spec: { readonly replicas: number };
  }[];
}

const COMPONENTS = ["web", "db", "queue"];
const component = fc.constantFrom(...COMPONENTS);
const replicas = fc.integer({ min: 1, max: 50 });
const post = (name: string, rest: string, body?: object) => shop.editor.api.post(shop.path(name, rest), body);
const patch = (name: string, change: object) => shop.editor.api.patch(shop.path(name), { components: [change] });
const secretsWithout = (model: Model, target: string) =>
  new Set([...model.secrets].filter((path) => !path.startsWith(`${target}/`)));

const scale = fc.tuple(component, replicas).map(
  ([target, count]): Operation => ({
    label: `scale ${target} to ${count}`,
    send: (name) => post(name, "/scale", { component_name: target, replicas: count }),
    apply: (model) =>
      model.isPaused || !model.replicas.has(target)
        ? null
        : { ...model, replicas: new Map(model.replicas).set(target, count) },
  }),
);
const add = fc.tuple(component, replicas).map(
  ([target, count]): Operation => ({
    label: `add ${target}`,
    send: (name) => patch(name, { op: "add", name: target, workload_spec: { replicas: count } }),
    apply: (model) =>
      model.replicas.has(target) ? null : { ...model, replicas: new Map(model.replicas).set(target, count) },
  }),
);
const remove = component.map(
  (target): Operation => ({
    label: `remove ${target}`,
    send: (name) => patch(name, { op: "remove", name: target }),
    apply: (model) => {
      // The last component stays.
      if (!model.replicas.has(target) || model.replicas.size === 1) return null;
      const kept = new Map([...model.replicas].filter(([name]) => name !== target));
      return { ...model, replicas: kept, secrets: secretsWithout(model, target) };
    },
  }),
);
const setSecret = fc.tuple(component, fc.constantFrom("A", "B")).map(
  ([target, key]): Operation => ({
    label: `set ${key} of ${target}`,
    send: (name) => patch(name, { op: "patch", name: target, secrets: { [key]: "v" } }),
    apply: (model) =>
      model.replicas.has(target) ? { ...model, secrets: new Set([...model.secrets, `${target}/${key}`]) } : null,
  }),
);
const pause = fc.constant<Operation>({
  label: "pause",
  send: (name) => post(name, "/pause"),
  apply: (model) => ({ ...model, isPaused: true }),
});
const resume = fc.constant<Operation>({
  label: "resume",
  send: (name) => post(name, "/resume"),
  apply: (model) => (model.isPaused ? { ...model, isPaused: false } : null),
});

const shown = ({ replicas: counts, secrets, isPaused }: Model) => ({
  paused: isPaused,
  replicas: Object.fromEntries([...counts].map(([name, count]) => [name, isPaused ? 0 : count])),
  secrets: [...secrets].sort(),
});

const read = ({ paused, components }: AppBody) => ({
  paused,
  replicas: Object.fromEntries(components.map(({ name, workload_spec }) => [name, workload_spec.replicas])),
  secrets: components.flatMap(({ name, secrets }) => secrets.map((key) => `${name}/${key}`)).sort(),
});

describe("operations made at the same time", () => {
  test("[AP58] concurrent operations on an app have the result of running them in the order of their revisions", async () => {
    const operation = fc.oneof(scale, add, remove, setSecret, pause, resume);
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 2, maxLength: 8 }), async (operations) => {
        const name = await shop.app([WEB, workload("db")]);
        const answers = await Promise.all(operations.map(async (made) => ({ made, answer: await made.send(name) })));
        const done = answers
          .filter(({ answer }) => answer.status === 200)
          .sort((one, other) => one.answer.body.revision - other.answer.body.revision);
        expect(answers.filter(({ answer }) => ![200, 404, 409, 422].includes(answer.status))).toEqual([]);
        expect(done.map(({ answer }) => answer.body.revision)).toEqual(done.map((_, index) => index + 2));

        let model: Model = {
          replicas: new Map([
            ["web", 2],
            ["db", 2],
          ]),
          secrets: new Set(),
          isPaused: false,
        };
        for (const { made, answer } of done) {
          const next = made.apply(model);
          if (next === null) throw new Error(`${made.label} was done although the model refuses it`);
          model = next;
          expect(read(answer.body)).toEqual(shown(model));
        }
        const app: AppBody = (await shop.viewer.api.get(shop.path(name))).body;
        expect(read(app)).toEqual(shown(model));
        expect([app.revision, app.generation]).toEqual([done.length + 1, done.length + 1]);
        const history = (await shop.viewer.api.get(shop.path(name, "/deployments", "&items_per_page=100"))).body.data;
        expect(history.map(({ status }: { status: string }) => status)).toEqual([
          "pending",
          ...done.map(() => "superseded"),
        ]);
      }),
      { numRuns: 25 },
    );
  });

  test("[AP18] of several operations with the same If-Match, one is done", async () => {
    const name = await shop.app();
    const tag = (await shop.viewer.api.get(shop.path(name))).headers.get("etag") ?? "";
    const editor = shop.editor.api.with({ "if-match": tag });
    const answers = await Promise.all(
      [1, 2, 3, 4].map((count) => editor.post(shop.path(name, "/scale"), { component_name: "web", replicas: count })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });
});
