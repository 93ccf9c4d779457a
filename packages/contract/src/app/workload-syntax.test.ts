import { expect, test } from "vitest";
import { isImageReference, scheduleProblem } from "./workload-syntax.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each([
  "nginx",
  "nginx:1.29",
  "library/nginx:latest",
  "docker.io/library/wordpress:6.8-apache",
  "registry.example.com:5000/team/app_one/web--x:v1.2.3_rc",
  "localhost/app",
  "Registry.Example.com/app",
  "[::1]:5000/app:1",
  `ghcr.io/acme/app@${DIGEST}`,
  `ghcr.io/acme/app:1@${DIGEST}`,
])("[AP74] %s is the name of an image", (image) => {
  expect(isImageReference(image)).toBe(true);
});

test.each([
  "UPPER:::bad",
  "Nginx",
  "UPPER/app",
  "app:",
  "app:.tag",
  "app:a:b",
  ":1",
  "/app",
  "app/",
  "a//b",
  "app-",
  "a..b",
  "app@sha256:short",
  `app@${DIGEST}@${DIGEST}`,
  "https://example.com/app",
  "-app",
  `app:${"t".repeat(129)}`,
  "reg.example.com:port/app",
])("[AP74] %s is not the name of an image", (image) => {
  expect(isImageReference(image)).toBe(false);
});

test.each(["0 3 * * *", "*/5 0-6,20-23/2 1,15 jan-MAR,12 mon-fri", "59 23 31 12 6", "? ? ? ? ?", "@daily"])(
  "[AP75] %s is a schedule",
  (schedule) => {
    expect(scheduleProblem(schedule)).toBeNull();
  },
);

test.each([
  ["60 * * * *", "minute"],
  ["* 24 * * *", "hour"],
  ["* * 0 * *", "day of the month"],
  ["* * 32 * *", "day of the month"],
  ["* * * 13 *", "month"],
  ["* * * foo *", "month"],
  ["* * * * 7", "day of the week"],
  ["* * * * mon-sun", "day of the week"],
  ["*/0 * * * *", "minute"],
  ["5-1 * * * *", "minute"],
  ["1-2-3 * * * *", "minute"],
  ["1, * * * *", "minute"],
  ["-1 * * * *", "minute"],
  ["* * * *", "five fields"],
])("[AP75] %s is not a schedule, because of the %s", (schedule, about) => {
  expect(scheduleProblem(schedule)).toContain(about);
});
