import { expect, test, vi } from "vitest";
import { commandsFor } from "./reconciler.ts";

const reconciler = () => ({
  start: vi.fn(),
  resync: vi.fn(),
  stop: vi.fn(async () => undefined),
  redeploy: vi.fn((key: string) => key === "app/shop/web"),
  settings: vi.fn(),
});

test("[OL24] a resync and settings are for all reconcilers, a redeploy for the one of its kind", async () => {
  const [app, project] = [reconciler(), { start: vi.fn(), resync: vi.fn(), stop: async () => undefined }];
  const commands = commandsFor({ app, project });
  commands.resync();
  expect([app.resync, project.resync].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  commands.settings({ drift_policy: "report" });
  expect(app.settings).toHaveBeenCalledWith({ drift_policy: "report" });
  expect(await commands.redeploy("app/shop/web")).toBe(true);
  expect(await commands.redeploy("app/shop/gone")).toBe(false);
  expect(await commands.redeploy("project/shop")).toBe(false);
  expect(await commands.redeploy("addon_instance/shop/db")).toBe(false);
});
