import { expect, test, vi } from "vitest";
import { commandsFor } from "./reconciler.ts";

const reconciler = () => ({
  start: vi.fn(),
  resync: vi.fn(),
  stop: vi.fn(async () => undefined),
  settings: vi.fn(),
});

test("[OL24] a resync and settings are for all reconcilers", () => {
  const [app, project] = [reconciler(), { start: vi.fn(), resync: vi.fn(), stop: async () => undefined }];
  const commands = commandsFor({ app, project });
  commands.resync();
  expect([app.resync, project.resync].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  commands.settings({ drift_policy: "report" });
  expect(app.settings).toHaveBeenCalledWith({ drift_policy: "report" });
});
