import { expect, test } from "vitest";
import {
  type ChartNode,
  parametersOf,
  previewValues,
  promoted,
  promotionProblems,
  treeOf,
  treeWith,
} from "./chart-values.ts";

const inspection = {
  defaults: {
    replicas: 2,
    image: { repository: "nginx", tag: "1.29" },
    auth: { password: "" },
    ratio: 0.5,
    on: true,
    hosts: ["a"],
    extra: {},
    "a.b": 1,
    annotations: { "example.com/x": "y" },
    nothing: null,
  },
  secret_values: ["auth.password"],
};
const tree = treeOf(inspection);
const all = (nodes: readonly ChartNode[]): readonly ChartNode[] =>
  nodes.flatMap((node) => [node, ...all(node.children)]);
const node = (path: string): ChartNode => all(tree).find((each) => each.path === path) as ChartNode;

test("[WC97] the values of a chart are a tree, and single values that a path leads to can become parameters", () => {
  expect(
    all(tree)
      .filter(({ canPromote }) => canPromote)
      .map(({ path }) => path),
  ).toEqual(["replicas", "image.repository", "image.tag", "auth.password", "ratio", "on", "nothing"]);
  expect(node("extra").preset).toBe("{}");
  expect(node("hosts").preset).toBe('["a"]');
});

test.each([
  ["", 10],
  ["TAG", 2],
  ["nginx", 2],
  ["image", 3],
  ["none of them", 0],
])("[WC97] the filter %j leaves %i nodes of a chart's values", (text, count) => {
  const left = treeWith(tree, text);
  expect(text === "" ? left.length : all(left).length).toBe(count);
});

test.each([
  ["replicas", [], "replicas", "integer"],
  ["image.tag", [], "tag", "string"],
  ["image.tag", ["tag"], "image_tag", "string"],
  ["image.tag", ["tag", "image_tag"], "tag_2", "string"],
  ["image.tag", ["tag", "image_tag", "tag_2"], "tag_3", "string"],
  ["auth.password", [], "password", "secret"],
  ["ratio", [], "ratio", "number"],
  ["on", [], "on", "boolean"],
  ["nothing", [], "nothing", "string"],
])("[WC97] the value %s beside the names %j becomes the parameter %s of type %s", (path, taken, name, type) => {
  expect(promoted(node(path), taken)).toEqual({ path, name, type, description: "", required: false });
});

test("[WC97] the name of a parameter never begins with a digit, because the API refuses that", () => {
  expect(promoted({ ...node("on"), path: "ports.80-tcp" }, []).name).toBe("p_80_tcp");
});

const tag = { path: "image.tag", name: "tag", type: "string", description: "", required: false } as const;

test("[WC97] names of parameters that are wrong or given twice are refused at their parameter", () => {
  expect(promotionProblems([tag])).toEqual({});
  expect(promotionProblems([tag, { ...tag, path: "x" }])).toEqual({
    "image.tag": "Another parameter has this name.",
    x: "Another parameter has this name.",
  });
  expect(Object.keys(promotionProblems([{ ...tag, name: "a b" }]))).toEqual(["image.tag"]);
});

test("[WC97] the preview has placeholders where values were promoted, and the request names the paths", () => {
  expect(previewValues([tag, { ...tag, path: "image.repository", name: "repo" }])).toEqual({
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is a placeholder of the API.
    image: { tag: "${tag}", repository: "${repo}" },
  });
  expect(parametersOf([{ ...tag, required: true, description: "d" }])).toEqual([
    { path: "image.tag", name: "tag", type: "string", description: "d", required: true },
  ]);
});

test("[WC97] a chart's value named __proto__ changes no object", () => {
  previewValues([{ ...tag, path: "__proto__.polluted" }]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});
