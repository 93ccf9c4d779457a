/** How a secret of an app is named: `component/key`. Neither part can hold a slash. */
export const secretPath = (component: string, key: string) => `${component}/${key}`;

/** Of one component. */
export function keysOf(paths: readonly string[], component: string): string[] {
  const start = secretPath(component, "");
  return paths.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length));
}
