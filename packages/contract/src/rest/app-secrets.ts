import Type from "typebox";
import { MAX_SECRETS, SecretKey, SecretValue } from "../component.ts";
import { strict, Timestamp } from "../fields.ts";
import { operation } from "../operation.ts";
import { Whole } from "../page.ts";
import { appConflict, appParams, appQuery } from "./apps.ts";

const component = Type.String({ maxLength: 253, examples: ["web"] });
const params = Type.Object({ ...appParams, component });
const query = Type.Object(appQuery);
const path = "/apps/{namespace}/{name}/components/{component}/secrets";

const ComponentSecrets = Whole(
  Type.Object(
    { key: SecretKey, updated_at: Timestamp() },
    { title: "ComponentSecret", description: "Never its value." },
  ),
);

export const listComponentSecrets = operation({
  id: "listComponentSecrets",
  method: "GET",
  path,
  tag: "Apps",
  summary: "List the keys of a component's secrets",
  credentials: "user",
  params,
  query,
  success: [200, ComponentSecrets],
  failures: [404],
});

export const updateComponentSecrets = operation({
  id: "updateComponentSecrets",
  method: "PATCH",
  path,
  tag: "Apps",
  summary: "Set secrets of a component; keys left out stay",
  credentials: "user",
  params,
  query,
  body: Type.Record(SecretKey, SecretValue, {
    ...strict,
    minProperties: 1,
    maxProperties: MAX_SECRETS,
    examples: [{ API_KEY: "<SECRET>" }],
  }),
  success: [200, ComponentSecrets],
  versioned: true,
  failures: [403, 404],
  failureBodies: appConflict,
});

export const deleteComponentSecret = operation({
  id: "deleteComponentSecret",
  method: "DELETE",
  path: `${path}/{key}`,
  tag: "Apps",
  summary: "Remove one secret of a component",
  credentials: "user",
  params: Type.Object({ ...appParams, component, key: Type.String({ maxLength: 253, examples: ["API_KEY"] }) }),
  query,
  success: [204, null],
  versioned: true,
  failures: [403, 404],
  failureBodies: appConflict,
});
