import type { App, DeploymentListItem } from "@binnacle/client";
import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../components/loaded.tsx";
import { Notice } from "../components/notice.tsx";
import { addressOf } from "./app-address.ts";

interface Props {
  readonly app: App;
  readonly instance: string;
  /** The revision that attached the instance. */
  readonly revision: number;
}

/** The API answers before the cluster has tried, so only the end of the deployment says whether the app runs with the addon. */
export function AttachOutcome({ app, instance, revision }: Props) {
  const deployments = useRead("listDeployments", addressOf(app), { refetchMs: 5_000 });
  return (
    <Loaded of={deployments}>
      {({ data }) => (
        <OutcomeNotice
          app={app}
          instance={instance}
          deployment={data.find((deployment) => deployment.revision === revision)}
        />
      )}
    </Loaded>
  );
}

function OutcomeNotice(props: Pick<Props, "app" | "instance"> & { deployment: DeploymentListItem | undefined }) {
  const { app, instance, deployment } = props;
  const attached = `${instance} is attached to ${app.name}`;
  switch (deployment?.status) {
    case "pending":
      return (
        <Notice tone="progress" title={`${attached}, which is being deployed`}>
          {app.phase_message ?? "The cluster has not reported the outcome yet. It goes on if you close this."}
        </Notice>
      );
    case "succeeded":
      return <Notice tone="good" title={`${attached}, and the cluster has deployed it`} />;
    case "failed":
      return (
        <Notice tone="bad" title={`${attached}, and cannot be deployed`}>
          {deployment.message ?? "The cluster has not said why."}
        </Notice>
      );
    case "superseded":
    case undefined:
      return (
        <Notice tone="unknown" title={`${attached}, and changed since`}>
          A later change has replaced this one before it was deployed. The tab Deployments shows how that went.
        </Notice>
      );
  }
}
