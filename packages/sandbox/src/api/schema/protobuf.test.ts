import { expect, test } from "vitest";
import { fromProtobuf, NotProtobuf } from "./protobuf.ts";

/** A field of a message: its number, and a number, a text or the fields of an inner message. */
type Part = readonly [number: number, value: number | string | readonly Part[]];

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function message(parts: readonly Part[]): number[] {
  return parts.flatMap(([number, value]) => {
    if (typeof value === "number") return [...varint(number * 8), ...varint(value)];
    const bytes = typeof value === "string" ? [...Buffer.from(value)] : message(value);
    return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
  });
}

const sent = (apiVersion: string, kind: string, object: readonly Part[]) =>
  Uint8Array.from([
    0x6b,
    0x38,
    0x73,
    0,
    ...message([
      [
        1,
        [
          [1, apiVersion],
          [2, kind],
        ],
      ],
      [2, object],
    ]),
  ]);

test("[SA22] an object that is read from Protobuf is the same as one from JSON", () => {
  const port: Part[] = [
    [1, "http"],
    [3, 8080],
    [4, "TCP"],
  ];
  const volume: Part[] = [
    [1, "v"],
    [2, [[6, [[1, "secret"]]]]],
  ];
  const probe: Part[] = [
    [
      1,
      [
        [
          2,
          [
            [1, "/"],
            [
              2,
              [
                [1, 0],
                [2, 8080],
                [3, ""],
              ],
            ],
          ],
        ],
      ],
    ],
    [3, 5],
  ];
  const container: Part[] = [
    [1, "c"],
    [2, "nginx"],
    [6, port],
    [
      8,
      [
        [
          1,
          [
            [1, "cpu"],
            [2, [[1, "500m"]]],
          ],
        ],
      ],
    ],
    [11, probe],
  ];
  const metadata: Part[] = [
    [1, "p"],
    [
      11,
      [
        [1, "app"],
        [2, "web"],
      ],
    ],
    [8, []],
  ];
  expect(
    fromProtobuf(
      sent("v1", "Pod", [
        [1, metadata],
        [
          2,
          [
            [1, volume],
            [2, container],
            [11, 1],
          ],
        ],
      ]),
    ),
  ).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", labels: { app: "web" } },
    spec: {
      hostNetwork: true,
      volumes: [{ name: "v", secret: { secretName: "secret" } }],
      containers: [
        {
          name: "c",
          image: "nginx",
          ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
          resources: { limits: { cpu: "500m" } },
          readinessProbe: { httpGet: { path: "/", port: 8080 }, timeoutSeconds: 5 },
        },
      ],
    },
  });
});

test.each([
  ["no message at all", Buffer.from("{}")],
  ["a kind that nobody knows", sent("v1", "Foo", [])],
  ["a message that is cut off", sent("v1", "Pod", [[1, [[1, "p"]]]]).slice(0, -2)],
])("[SA22] a Protobuf body that is %s is refused", (_, bytes) => {
  expect(() => fromProtobuf(bytes)).toThrow(NotProtobuf);
});
