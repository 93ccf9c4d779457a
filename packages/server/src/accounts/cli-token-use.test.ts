import { describe, expect, test } from "vitest";
import { cliTokenUses } from "./cli-token-use.ts";

const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1000);

/** Writes that end when the test says so. */
function uses() {
  const writes: { tokenId: string; now: Date; write: PromiseWithResolvers<void> }[] = [];
  const note = cliTokenUses((tokenId, now) => {
    const write = Promise.withResolvers<void>();
    writes.push({ tokenId, now, write });
    return write.promise;
  });
  return { writes, note };
}

/** Lets what follows a settled promise run. */
const settled = () => new Promise(setImmediate);

describe("the last use of a CLI token", () => {
  test("[CT9] the first use is noted", () => {
    const { writes, note } = uses();
    note("a", null, at(0));
    expect(writes).toMatchObject([{ tokenId: "a", now: at(0) }]);
  });

  test("[CT9] a use within a minute of the noted one is not, the one after it is", () => {
    const { writes, note } = uses();
    note("a", at(0), at(59.999));
    expect(writes).toHaveLength(0);
    note("a", at(0), at(60));
    expect(writes).toHaveLength(1);
  });

  test("[CT9] uses made while one is being noted add no further write, those of another token do", () => {
    const { writes, note } = uses();
    note("a", null, at(0));
    note("a", null, at(0));
    note("b", null, at(0));
    expect(writes.map(({ tokenId }) => tokenId)).toEqual(["a", "b"]);
  });

  test("[CT9] a use that could not be noted is forgotten, and the next one is tried", async () => {
    const { writes, note } = uses();
    note("a", null, at(0));
    writes[0]?.write.reject(new Error("the database is away"));
    await settled();
    note("a", null, at(1));
    expect(writes).toHaveLength(2);
  });

  test("[CT9] a clock that was set back notes nothing until it has caught up", () => {
    const { writes, note } = uses();
    note("a", at(3600), at(0));
    expect(writes).toHaveLength(0);
  });
});
