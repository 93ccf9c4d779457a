import { awsProvider } from "./aws/aws.adapter.ts";
import type { CloudProviders } from "./provider.ts";

/** The clouds that clusters can be made in. A new one is a folder beside this file, an entry here, and its fields in the contract. */
export const CLOUDS: CloudProviders = { aws: awsProvider() };
