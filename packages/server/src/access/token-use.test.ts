import { describe, expect, test } from "vitest";
import { cliTokenUseRecorder } from "./token-use.ts";

const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1000);

/** Writes that end when the test says so. */
function uses() {
  const writes: { tokenId: string; address: string; now: Date; write: PromiseWithResolvers<void> }[] = [];
  const note = cliTokenUseRecorder((use, now) => {
    const write = Promise.withResolvers<void>();
    writes.push({ ...use, now, write });
    return write.promise;
  });
  return { writes, note };
}

const by = (tokenId: string) => ({ tokenId, address: "203.0.113.7" });

/** Lets what follows a settled promise run. */
const settled = () => new Promise(setImmediate);

describe("the last use of a CLI token", () => {
  test("[CT9] the first use of a CLI token is recorded", () => {
    const { writes, note } = uses();
    note(by("a"), null, at(0));
    expect(writes).toMatchObject([{ tokenId: "a", address: "203.0.113.7", now: at(0) }]);
  });

  test("[CT9] a use of a CLI token within a minute of the recorded one is not recorded, and a later one is", () => {
    const { writes, note } = uses();
    note(by("a"), at(0), at(59.999));
    expect(writes).toHaveLength(0);
    note(by("a"), at(0), at(60));
    expect(writes).toHaveLength(1);
  });

  test("[CT9] uses of a CLI token during the write of one add no further write, and those of another token do", () => {
    const { writes, note } = uses();
    note(by("a"), null, at(0));
    note(by("a"), null, at(0));
    note(by("b"), null, at(0));
    expect(writes.map(({ tokenId }) => tokenId)).toEqual(["a", "b"]);
  });

  test("[CT9] after a use of a CLI token could not be written, the next use is written", async () => {
    const { writes, note } = uses();
    note(by("a"), null, at(0));
    writes[0]?.write.reject(new Error("the database is away"));
    await settled();
    note(by("a"), null, at(1));
    expect(writes).toHaveLength(2);
  });

  test("[CT9] after the clock was set back, no use of a CLI token is recorded until it has caught up", () => {
    const { writes, note } = uses();
    note(by("a"), at(3600), at(0));
    expect(writes).toHaveLength(0);
  });
});
