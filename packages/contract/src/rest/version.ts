import Type from "typebox";
import { Nullable } from "../fields.ts";
import { operation } from "../operation.ts";

/** Raised with every change of behaviour that clients can notice. Clients compare it as an integer. */
export const CONTRACT = 4;

export const getVersion = operation({
  id: "getVersion",
  method: "GET",
  path: "/version",
  tag: "Control plane",
  summary: "Read the contract number and the build of the running control plane",
  description: "`contract` can be ordered; `build` is for support only and must not be compared.",
  credentials: ["bundles:read"],
  success: [
    200,
    Type.Object(
      {
        contract: Type.Integer({ examples: [CONTRACT] }),
        build: Nullable(Type.String({ description: "Git revision; null when unstamped.", examples: ["4f2a1c9"] })),
      },
      { title: "Version" },
    ),
  ],
});
