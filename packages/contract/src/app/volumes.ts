import Type from "typebox";
import { DnsLabel, DnsSubdomain, strict } from "../fields.ts";

/** As Kubernetes spells them. */
export const ACCESS_MODES = ["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"] as const;
export const DEFAULT_ACCESS_MODE = "ReadWriteOnce";

export const Volumes = Type.Array(
  Type.Object(
    {
      name: DnsLabel("data"),
      mount_path: Type.String({ minLength: 1, maxLength: 1024, pattern: "^/", examples: ["/var/lib/data"] }),
      size_gb: Type.Integer({ minimum: 1, maximum: 65_536, examples: [10] }),
      storage_class: Type.Optional(
        DnsSubdomain(
          "fast",
          "The default one of the cluster where it is left out. A volume keeps the class that it was made with.",
        ),
      ),
      access_mode: Type.Optional(
        Type.Enum([...ACCESS_MODES], {
          description:
            `How many may mount it: the pods of one node (\`ReadWriteOnce\`, where it is left out), those of all nodes (\`ReadWriteMany\`, ` +
            "which few storage classes have) or one pod (`ReadWriteOncePod`). A volume keeps the mode that it was made with.",
        }),
      ),
    },
    { ...strict, title: "WorkloadVolume" },
  ),
  { maxItems: 50 },
);
