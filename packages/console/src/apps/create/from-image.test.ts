import { expect, test } from "vitest";
import { componentsOf, fieldProblems, nameAfter } from "./from-image.ts";

test.each([
  ["nginx", "nginx"],
  ["nginx:1.29", "nginx"],
  ["ghcr.io/Acme/Shop_API:2.4.1", "shop-api"],
  ["registry.example.com:5000/team/web@sha256:abc", "web"],
  ["registry.example.com:5000/9lives", "lives"],
  ["", ""],
  ["***", ""],
  [`x/${"a".repeat(60)}`, "a".repeat(40)],
])("[WC50] an app of the image %j is called %j by default", (image, name) => {
  expect(nameAfter(image)).toBe(name);
});

const form = { name: "shop", image: " nginx:1 ", port: "", host: "" };

test.each([
  [form, { kind: "deployment", image: "nginx:1" }],
  [
    { ...form, port: "8080" },
    { kind: "deployment", image: "nginx:1", ports: [{ name: "http", port: 8080 }] },
  ],
  [
    { ...form, port: "8080", host: "shop.example.com" },
    {
      kind: "deployment",
      image: "nginx:1",
      ports: [{ name: "http", port: 8080 }],
      ingress: { host: "shop.example.com", port: 8080 },
    },
  ],
  [
    { ...form, host: "shop.example.com" },
    { kind: "deployment", image: "nginx:1", ingress: { host: "shop.example.com" } },
  ],
])("[WC50] an image becomes one workload: %o", (given, workload_spec) => {
  expect(componentsOf(given)).toEqual([{ name: "web", workload_spec }]);
});

test("[WC46] the API's messages are shown at the fields of the form", () => {
  expect(
    fieldProblems({
      name: "taken",
      "components.0.workload_spec.image": "no image",
      "components.0.workload_spec.ports.0.port": "too big",
    }),
  ).toEqual({ name: "taken", image: "no image", port: "too big" });
});

test("[WC46] a message about something that the form does not show is kept", () => {
  expect(fieldProblems({ "components.0.exports": "wrong" })).toEqual({ "components.0.exports": "wrong" });
});
