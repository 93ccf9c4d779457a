import { describe, expect, test } from "vitest";
import type { CloudResource } from "../cloud/provider.ts";
import { decideDisks, diskLine, keptOnRecord, localVolumesFailure, lossText, lostVolumes, mayGo } from "./volumes.ts";

const disk = (id: string, claim: string | null = null): CloudResource => ({
  type: "volume",
  id,
  address: null,
  data: { claim },
});
const ROOT: CloudResource = { type: "volume", id: "vol-root", address: null };
const row = (deletable: boolean, claim: string | null = null) => ({ disk: "vol-1", claim, deletable });
const planned = (action: "keep" | "delete") => ({ action, id: "vol-1", claim: null, node: null, reason: "" });

describe("the disks of a destruction", () => {
  test.each([
    ["that is deleted with its claim", [row(true)], [], "delete"],
    ["that is retained", [row(false)], [], "keep"],
    ["of two volumes, of which one is retained", [row(true), row(false)], [], "keep"],
    ["that was deletable before and is retained now", [row(false)], [planned("delete")], "keep"],
    ["that no volume names", [], [], "keep"],
    ["that an earlier run has released", [], [planned("delete")], "delete"],
    ["without an answer", null, [], "keep"],
    ["without an answer to this run", null, [planned("delete")], "delete"],
    ["that an earlier run has kept", null, [planned("keep")], "keep"],
  ] as const)("[PN147] a disk %s is kept or deleted", (_, described, earlier, action) => {
    const decided = decideDisks([ROOT, disk("vol-1")], described, earlier);
    expect(decided).toMatchObject([{ id: "vol-1", action, node: null }]);
    expect(mayGo(disk("vol-1"), decided)).toBe(action === "delete");
  });

  test("[PN147] a disk that nobody has decided about stays, and other resources go", () => {
    expect([mayGo(disk("vol-9"), []), mayGo(ROOT, [])]).toEqual([false, true]);
  });

  test("[PN148] kept disks are named with their claim and the reason, also where only the cloud knows the claim", () => {
    const [kept] = decideDisks([disk("vol-1", "shop/data")], null, []);
    expect(kept && diskLine(kept)).toBe(
      "The disk vol-1 (shop/data) is kept. The operator did not answer, so it is not known whether it is retained.",
    );
    const [gone] = decideDisks([disk("vol-1", "old/name")], [row(true, "shop/data")], []);
    expect(gone && diskLine(gone)).toMatch(/^The disk vol-1 \(shop\/data\) is deleted\./);
  });

  test("[PN148] the audit log counts kept disks, and names the first hundred", () => {
    const many = Array.from({ length: 120 }, (_, index) => disk(`vol-${index}`));
    const record = keptOnRecord(decideDisks(many, null, []));
    expect([record.kept_disks?.length, record.kept_disk_count]).toEqual([100, 120]);
    expect(keptOnRecord([planned("delete")])).toEqual({});
  });
});

describe("the data of nodes that leave", () => {
  const local = { named: [{ node: "agent-2", name: "pvc-1", claim: "shop/data" }], total: 3 };

  test("[PN150] local volumes are named with their nodes, and the rest is counted", () => {
    expect(lossText(local, ["agent-2"])).toBe(
      "The data of these local volumes would be lost with agent-2: shop/data on agent-2, and 2 more.",
    );
    expect(localVolumesFailure(lossText(local, ["agent-2"]) ?? "")).toMatchObject({
      code: "local_volumes",
      message: expect.stringContaining("Nothing was changed."),
    });
    expect(lostVolumes(local)).toMatchObject([{ action: "delete", id: "pvc-1", claim: "shop/data", node: "agent-2" }]);
  });

  test("[PN150] without local volumes nothing is lost, and without an answer it is said that nobody knows", () => {
    expect(lossText({ named: [], total: 0 }, ["agent-2"])).toBeNull();
    const unknown = { unknown: "No operator is connected." };
    expect(lossText(unknown, ["agent-2", "agent-3"])).toBe(
      "It is not known whether agent-2, agent-3 have local volumes, whose data would be lost: No operator is connected.",
    );
    expect(lostVolumes(unknown)).toEqual([]);
  });
});
