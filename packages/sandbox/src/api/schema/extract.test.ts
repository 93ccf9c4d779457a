import { expect, test } from "vitest";
import { typesFrom } from "./extract.ts";
import { fieldsOf, structsIn } from "./go-types.ts";

const GO = `
type Pod struct {
	metav1.TypeMeta \`json:",inline"\`
	// a comment
	Spec PodSpec \`json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"\`
}
type PodSpec struct {
	Name string \`json:"name" protobuf:"bytes,1,opt,name=name"\`
	Count *int32 \`json:"count,omitempty" protobuf:"varint,3,opt,name=count"\`
	Ports []Port \`json:"ports,omitempty" protobuf:"bytes,4,rep,name=ports"\`
	Source \`json:"" protobuf:"bytes,5,opt,name=source"\`
}
type Source struct {
	Secret *Secret \`json:"secret,omitempty" protobuf:"bytes,6,opt,name=secret"\`
}
`;

const definitions = {
  "io.k8s.api.core.v1.Pod": { properties: { spec: { $ref: "#/definitions/io.k8s.api.core.v1.PodSpec" } } },
  "io.k8s.api.core.v1.PodSpec": {
    required: ["name"],
    properties: {
      name: { type: "string" },
      count: { type: "integer", format: "int32" },
      secret: { type: "object" },
      ports: {
        type: "array",
        items: { $ref: "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString" },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "x-kubernetes-patch-merge-key": "port",
      },
    },
  },
};

test("[SA24] a type is extracted with its list keys, its empty values and its Protobuf numbers", () => {
  const structs = structsIn(GO);
  const types = typesFrom(definitions, ["core.v1.Pod"], (type) => fieldsOf(structs, type.split(".").at(-1) ?? ""));
  expect(types).toEqual({
    "core.v1.Pod": { spec: "core.v1.PodSpec always #2" },
    "core.v1.PodSpec": {
      name: "string ! always #1",
      count: "integer keep #3",
      secret: "any keep #5.6",
      ports: "[IntOrString] map:port,protocol merge:port #4",
    },
  });
});
