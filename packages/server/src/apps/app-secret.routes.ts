import { deleteComponentSecret, listComponentSecrets, updateComponentSecrets } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { sendEtag } from "../http/etag.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { listSecretKeys } from "./app.store.ts";
import { type AppWithSecretPaths, addressed, addressOf, appVersion } from "./app.ts";
import { appPlace } from "./app-place.store.ts";
import { secretPath, setSecrets } from "./app-secrets.ts";
import { type AppPorts, operate } from "./operate.runner.ts";
import { secretsChanged } from "./transition.ts";

async function secretsOf(db: Queries, app: AppWithSecretPaths, component: string) {
  const keys = await listSecretKeys(db, app.id);
  const data = keys
    .filter((secret) => secret.component === component)
    .map(({ key, updated_at }) => ({
      key,
      updated_at: updated_at.toISOString(),
      chart_value: listOfChartValue(app, component, key),
    }));
  return { data, total_count: data.length };
}

function listOfChartValue({ components }: AppWithSecretPaths, component: string, key: string) {
  const chart = components.find(({ name }) => name === component)?.chart_spec;
  return (["secret_values", "sealed_values"] as const).find((list) => chart?.[list]?.includes(key)) ?? null;
}

export function appSecretRoutes(ports: AppPorts & Ports<"db">): Route[] {
  const { db } = ports;
  return [
    route(listComponentSecrets, at(appPlace, "viewer", addressed), async ({ app, params: { component } }) => {
      if (!app.components.some(({ name }) => name === component)) throw notFound(`Component ${component}`);
      return secretsOf(db, app, component);
    }),

    route(
      updateComponentSecrets,
      at(appPlace, "editor", addressed),
      async ({ caller, params, query, body, headers, change, reply }) => {
        const { component } = params;
        const order = { address: addressOf({ params, query }), headers, createdBy: caller.email };
        const { app, secrets } = await change(async (unit) => {
          const changed = await operate(unit, ports, order, (before) =>
            secretsChanged(before, component, setSecrets(component, body)),
          );
          return { app: changed, secrets: await secretsOf(unit.db, changed, component) };
        });
        sendEtag(reply, appVersion(app));
        return secrets;
      },
    ),

    route(
      deleteComponentSecret,
      at(appPlace, "editor", addressed),
      async ({ caller, params, query, headers, change }) => {
        const { component, key } = params;
        const order = { address: addressOf({ params, query }), headers, createdBy: caller.email };
        await change((unit) =>
          operate(unit, ports, order, (before) =>
            before.secret_paths.includes(secretPath(component, key))
              ? secretsChanged(before, component, setSecrets(component, { [key]: null }))
              : notFound("Secret"),
          ),
        );
        return null;
      },
    ),
  ];
}
