/** How the API addresses an app. */
export interface AppAddress {
  readonly namespace: string;
  readonly name: string;
  readonly project_id: string;
}

export const addressOf = ({ namespace, name, project_id }: AppAddress): AppAddress => ({ namespace, name, project_id });

/** The name of an app as `binnacle` takes it. */
export const cliName = ({ namespace, name }: Pick<AppAddress, "namespace" | "name">): string => `${namespace}/${name}`;
