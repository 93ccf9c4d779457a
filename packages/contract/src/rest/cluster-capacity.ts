import Type, { type Static } from "typebox";
import { Nullable } from "../fields.ts";

/** The capacity that the operator reported last. */
export const ClusterCapacity = Type.Object(
  {
    cpu_cores: Nullable(Type.Number({ examples: [12] })),
    memory_bytes: Nullable(Type.Number({ examples: [51539607552] })),
    pods: Nullable(Type.Number({ examples: [330] })),
  },
  { title: "ClusterCapacity" },
);
export type ClusterCapacity = Static<typeof ClusterCapacity>;
