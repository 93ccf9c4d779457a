import { Unauthenticated } from "@binnacle/client";
import { Alert } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";
import { FailurePanel } from "../components/loaded.tsx";

/** Wrong credentials are not a failure of the console: the API's own words say all, and nobody needs to look for the request. */
export function Refusal({ error }: { readonly error: unknown }) {
  if (!(error instanceof Unauthenticated)) return <FailurePanel error={error} />;
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertCircle aria-hidden />}>
      {error.message}
    </Alert>
  );
}
