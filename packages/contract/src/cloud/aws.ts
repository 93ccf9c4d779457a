import Type from "typebox";
import { type Cloud, KEY_CHARACTERS, Region } from "./cloud.ts";

export const aws = {
  name: "AWS",
  fields: {
    region: { label: "Region", schema: Region },
    access_key_id: {
      label: "Access key id",
      masked: true,
      schema: Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: KEY_CHARACTERS,
        examples: ["AKIAIOSFODNN7EXAMPLE"],
      }),
    },
    secret_access_key: {
      label: "Secret access key",
      secret: true,
      schema: Type.String({
        minLength: 1,
        maxLength: 1024,
        pattern: KEY_CHARACTERS,
        description: "Written and never read back.",
        examples: ["<SECRET_ACCESS_KEY>"],
      }),
    },
    role_arn: {
      label: "Role",
      optional: true,
      hint: "The role to act as. Its trust policy asks for the id of the organization as the external id; the key may do nothing but assume it.",
      schema: Type.String({
        maxLength: 512,
        pattern: "^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$",
        examples: ["arn:aws:iam::123456789012:role/binnacle"],
      }),
    },
    snapshot_bucket: {
      label: "Bucket for snapshots",
      optional: true,
      hint: "In the region of the clusters. New clusters put snapshots of their data there, from which a lost control plane is made anew.",
      schema: Type.String({
        minLength: 3,
        maxLength: 63,
        pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$",
        examples: ["example-cluster-snapshots"],
      }),
    },
    permissions_boundary: {
      label: "Permissions boundary",
      optional: true,
      hint: "The policy that limits the roles of control planes. The documented policy of the key allows no role without it.",
      schema: Type.String({
        maxLength: 512,
        pattern: "^arn:aws(-[a-z]+)*:iam::[0-9]{12}:policy/[A-Za-z0-9+=,.@_/-]+$",
        examples: ["arn:aws:iam::123456789012:policy/binnacle-boundary"],
      }),
    },
  },
  needs: "AWS needs a region and both halves of the key",
  // A key id with the secret of another key would fail much later, at AWS.
  together: { access_key_id: ["secret_access_key"] },
  instance_types: ["t3.medium", "t3.large", "t3.xlarge", "m7i.large", "m7i.xlarge", "m7i.2xlarge"],
  default_instance_type: "t3.large",
} as const satisfies Cloud;
