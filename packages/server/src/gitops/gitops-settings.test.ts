import { expect, test } from "vitest";
import type { HostKey } from "../git/git-host.ts";
import { problemsOf } from "./gitops-settings.ts";

const key = (type: string, seed: string): HostKey => ({ type, key: `${type} ${seed}`, fingerprint: `SHA256:${seed}` });
const OLD = key("ssh-ed25519", "old");
const NEW = key("ssh-ed25519", "new");
const RSA = key("ssh-rsa", "same");
const DENIED = { code: "denied", message: "The token has expired." } as const;
const BY_SSH = { code: "host_key_changed", message: "As ssh says it." } as const;

test.each([
  ["the pinned key", [OLD], [OLD], [], []],
  ["the pinned key and another type", [OLD], [OLD, RSA], [], []],
  ["one of two pinned keys of a type", [OLD, NEW], [NEW], [], []],
  ["one of two pinned types", [OLD, RSA], [RSA], [], []],
  ["another key", [OLD], [NEW], [], ["host_key_changed"]],
  ["another key of one type and the same of another", [OLD, RSA], [NEW, RSA], [], ["host_key_changed"]],
  ["another key, and the token has expired", [OLD], [NEW], [DENIED], ["host_key_changed", "denied"]],
  ["another key, which ssh has refused", [OLD], [NEW], [BY_SSH], ["host_key_changed"]],
  ["no key at all", [OLD], [], [DENIED], ["denied"]],
] as const)(
  "[GO7] a test of a host that shows %s has the problems that it has",
  (_, pinned, hostKeys, problems, codes) => {
    const wanted = pinned.map((one) => one.key);
    expect(problemsOf(wanted, { hostKeys, problems }).map(({ code }) => code)).toEqual(codes);
    expect(problemsOf(null, { hostKeys, problems })).toEqual(problems);
  },
);
