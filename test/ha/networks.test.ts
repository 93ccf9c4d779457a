import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Gate, Trouble } from "./gate.ts";
import { BACK_WITHIN_MS, changesArrive, type Installation, install, operatorsBack } from "./installation.ts";
import { listen, signedIn } from "./load.ts";

const TROUBLED_MS = 4_000;
const TROUBLES: readonly [string, Trouble][] = [
  ["is 500 ms late", { latencyMs: 500 }],
  ["resets 10 % of what passes", { resets: 0.1 }],
  ["passes 64 KB a second", { bytesPerSecond: 64_000 }],
  ["is half-open", { isHalfOpen: true }],
];

const LINKS: readonly [link: string, withRedis: boolean, gateOf: (installation: Installation) => Gate | null][] = [
  ["between clients, operators and servers", false, ({ toServers }) => toServers],
  ["between servers and database", false, ({ toDatabase }) => toDatabase],
  ["between servers and Redis", true, ({ toRedis }) => toRedis],
];

describe.each([
  ["PostgreSQL alone", false],
  ["Redis", true],
])("an installation with %s", (_, withRedis) => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await install({ withRedis });
  }, 120_000);
  afterAll(() => installation?.stop(), 60_000);

  describe.each(LINKS.filter(([, isWithRedis]) => isWithRedis === withRedis))("the network %s", (link, __, gateOf) => {
    test.each(TROUBLES)(
      "[HA5] after a network that %s everything is healed within 30 s, and no event is missed",
      async (_what, trouble) => {
        const gate = gateOf(installation);
        if (!gate) throw new Error(`There is nothing ${link}.`);
        const client = await signedIn(installation.url);
        const heard = await listen(client);
        gate.disturb(trouble);
        const acknowledged: string[] = [];
        const writing = (async () => {
          for (let count = 0; count < 10; count++) {
            const made = await client.attempt("createOrg", {
              body: { name: `${JSON.stringify(trouble)} ${link} ${count}` },
            });
            if (made.ok) acknowledged.push(made.data.id);
          }
        })();
        await pause(TROUBLED_MS);
        gate.disturb({});
        const since = performance.now();
        await operatorsBack(installation.operators);
        await changesArrive(installation.clusters, client);
        const allHeard = () => expect(acknowledged.filter((id) => !heard.orgs.includes(id))).toEqual([]);
        await vi.waitFor(allHeard, { timeout: 60_000 });
        expect(performance.now() - since).toBeLessThan(BACK_WITHIN_MS);
        await writing;
        // Of what was acknowledged meanwhile too.
        await vi.waitFor(allHeard, { timeout: 60_000 });
        const stored = new Set<string>();
        for await (const { id } of client.pages("listOrgs", { items_per_page: 100 })) stored.add(id);
        expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
        await heard.leave();
      },
    );
  });
});
