import { componentNames } from "../app/names.ts";
import type { ReleaseId } from "./revision.ts";

const APP_OWNER = "app.";

export const releaseOfComponent = (namespace: string, app: string, component: string): ReleaseId => ({
  namespace,
  name: componentNames(app, component).base,
  owner: `${APP_OWNER}${app}.${component}`,
});

export const isOfComponent = ({ owner }: Pick<ReleaseId, "owner">): boolean => owner.startsWith(APP_OWNER);

export const releaseOfInstance = (namespace: string, name: string): ReleaseId => ({ namespace, name, owner: "addon" });
