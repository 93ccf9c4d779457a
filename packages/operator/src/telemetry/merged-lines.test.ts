import fc from "fast-check";
import { expect, test } from "vitest";
import { gathered } from "../kube/gathered.fixture.ts";
import { createChannel, mergedByTime } from "./line-channel.ts";

async function* from(instants: readonly string[], onEnd: () => void = () => undefined) {
  try {
    for (const instant of instants) yield { instant };
  } finally {
    onEnd();
  }
}

test("[TE3] the lines of many logs are merged in the order of time", async () => {
  const logs = fc.array(fc.array(fc.constantFrom("1", "2", "3", "4", "5"), { maxLength: 8 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(logs, async (all) => {
      const sorted = all.map((instants) => instants.sort());
      const merged = await gathered(mergedByTime(sorted.map((instants) => from(instants))));
      expect(merged.map(({ instant }) => instant)).toEqual(sorted.flat().sort());
    }),
  );
});

test("[TE10] a reader who stops reading merged logs ends all of them", async () => {
  let ended = 0;
  const count = () => {
    ended += 1;
  };
  for await (const _ of mergedByTime([from(["1", "3"], count), from(["2"], count)])) break;
  expect(ended).toBe(2);
});

test("[TE5] many writers reach one reader through a channel that holds writers back", async () => {
  const channel = createChannel<{ n: number }>(2);
  let written = 0;
  const writing = (async () => {
    for (let n = 0; n < 10; n += 1) {
      await channel.put({ n });
      written = n + 1;
    }
    channel.close();
  })();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBe(1);
  expect((await gathered(channel)).map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await writing;
});
