import { previewAddonInstanceDeletion, previewAppDeletion, previewProjectDeletion } from "@binnacle/contract";
import { addonPlace } from "../addons/addon-place.ts";
import { findInstance } from "../apps/app.store.ts";
import { type AppWithSecretPaths, addressOf } from "../apps/app.ts";
import { appPlace } from "../apps/app-place.store.ts";
import { attachedComponents } from "../apps/transition.ts";
import { invalid, notFound } from "../fault.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { projectPlace } from "../projects/project-place.store.ts";
import { deletionOutlook } from "./deletion-outlook.runner.ts";
import { projectContents } from "./deletion-preview.store.ts";
import { declaredVolumes, detachmentPreview, KEPT_BY_APP, previewOf, UNKNOWN_FATE } from "./deletion-preview.ts";

/** Each is for whoever may delete what it is about. */
export function deletionPreviewRoutes({ db, operators }: Ports<"db" | "operators">): Route[] {
  async function previewApp({ id, name, components, ...app }: AppWithSecretPaths) {
    const leaving = { clusterId: app.cluster_id, namespace: app.namespace, app: name };
    const outlook = await deletionOutlook(operators, leaving);
    const target = { type: "app", id, name } as const;
    const declared = declaredVolumes({ name, components }, UNKNOWN_FATE);
    return previewOf({ target, components: components.map((one) => one.name) }, outlook, declared);
  }

  async function previewComponent(app: AppWithSecretPaths, name: string) {
    const component = app.components.find((one) => one.name === name);
    if (!component) throw notFound(`Component ${name}`);
    const place = { clusterId: app.cluster_id, namespace: app.namespace, app: app.name, components: [name] };
    const outlook = await deletionOutlook(operators, place);
    const declared = declaredVolumes({ name: app.name, components: [component] }, KEPT_BY_APP);
    return previewOf({ target: { type: "component", id: app.id, name }, components: [name] }, outlook, declared);
  }

  async function previewDetachment(app: AppWithSecretPaths, instanceId: string) {
    const { name } = await findInstance(db, app.project_id, instanceId);
    const components = attachedComponents(app, name);
    if (components.length === 0) throw notFound("Attachment");
    return detachmentPreview({ id: instanceId, name }, components);
  }

  return [
    route(
      previewAppDeletion,
      at(appPlace, "editor", (input) => addressOf(input)),
      async ({ app, query: { component, addon_instance_id } }) => {
        if (component !== undefined && addon_instance_id !== undefined) {
          throw invalid([
            {
              loc: ["query", "addon_instance_id"],
              msg: "Give component or addon_instance_id, not both",
              type: "value_error",
            },
          ]);
        }
        if (addon_instance_id !== undefined) return previewDetachment(app, addon_instance_id);
        return component === undefined ? previewApp(app) : previewComponent(app, component);
      },
    ),

    route(previewAddonInstanceDeletion, at(addonPlace, "editor"), async ({ instance }) => {
      const { id, name, namespace, cluster_id: clusterId } = instance;
      const outlook = await deletionOutlook(operators, { clusterId, namespace, addonInstance: name });
      const target = { type: "addon_instance", id, name } as const;
      return previewOf({ target, addon_instances: [{ id, name }] }, outlook, []);
    }),

    route(
      previewProjectDeletion,
      at(projectPlace, "org_admin"),
      async ({ project: { id, name, namespace, cluster_id: clusterId } }) => {
        const [{ apps, instances, isCut }, outlook] = await Promise.all([
          projectContents(db, id),
          deletionOutlook(operators, { clusterId, namespace }),
        ]);
        const onRecord = {
          target: { type: "project", id, name } as const,
          apps: apps.map(({ id: appId, name: app }) => ({ id: appId, name: app })),
          addon_instances: instances,
          truncated: isCut,
        };
        return previewOf(
          onRecord,
          outlook,
          apps.flatMap((app) => declaredVolumes(app, UNKNOWN_FATE)),
        );
      },
    ),
  ];
}
