import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync, sign as signWith } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CommitDraft, commitOf, type ParsedCommit, parseCommit } from "./commit.ts";
import { gitFolder, temporaryFolder } from "./git-program.fixture.ts";
import { blobOf, type GitObject } from "./object.ts";
import { allowedSignersFile } from "./signers.ts";
import { fingerprintOf, readPrivateKey, readPublicKey, sshKeyOf } from "./ssh-key.ts";
import { sshSigner, verifySignature } from "./ssh-signature.ts";
import { armored, unarmored, wireNumber, wireReader, wireString } from "./ssh-wire.ts";
import { changedTree, EMPTY_TREE } from "./tree.ts";
import { verifyHistory } from "./verify.ts";

const AT = new Date("2026-05-04T10:20:30Z");
const PERSON = { name: "Binnacle", email: "binnacle@example.com", at: AT };
const OURS = sshKeyOf(Buffer.alloc(32, 1), "binnacle");
const THEIRS = sshKeyOf(Buffer.alloc(32, 2), "ada@example.com");
const SIGNERS = [
  { principal: "binnacle", publicKey: OURS.publicKey },
  { principal: "ada@example.com", publicKey: THEIRS.publicKey },
];
const LABEL = "SSH SIGNATURE";

const draft = (change: Partial<CommitDraft>): CommitDraft => ({
  tree: EMPTY_TREE.id,
  parents: [],
  author: PERSON,
  committer: PERSON,
  subject: "change",
  ...change,
});

function keygen(args: readonly string[], input: Buffer | string = ""): string {
  return execFileSync("ssh-keygen", args, { input, stdio: "pipe" }).toString("utf8");
}

/** A key of OpenSSH in a folder of the test. */
function keyFile(...options: string[]): { path: string; publicKey: string } {
  const path = join(temporaryFolder(), "key");
  keygen(["-q", "-N", "", "-C", "somebody", "-f", path, ...options]);
  return { path, publicKey: readFileSync(`${path}.pub`, "utf8") };
}

describe("keys", () => {
  test("[GI6] a key that was made here is one for OpenSSH, which finds the same public key and fingerprint", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.string(), (seed, comment) => {
        const key = sshKeyOf(Buffer.from(seed), comment);
        const path = join(temporaryFolder(), "key");
        writeFileSync(path, key.privateKey, { mode: 0o600 });
        expect(keygen(["-y", "-f", path]).trim()).toBe(key.publicKey);
        expect(keygen(["-l", "-f", path])).toContain(` ${key.fingerprint} `);
        expect(sshKeyOf(Buffer.from(seed), comment)).toEqual(key);
      }),
      { numRuns: 10 },
    );
  });

  test("[GI6] a key of ssh-keygen is read, and one with a passphrase or of another kind is refused without being quoted", () => {
    const key = keyFile("-t", "ed25519");
    const text = readFileSync(key.path, "utf8");
    expect(readPrivateKey(text).blob).toEqual(readPublicKey(key.publicKey)?.blob);
    keygen(["-p", "-q", "-P", "", "-N", "secret", "-f", key.path]);
    expect(() => readPrivateKey(readFileSync(key.path, "utf8"))).toThrow("The key must not have a passphrase.");
    const rsa = keyFile("-t", "rsa", "-b", "2048");
    expect(() => readPrivateKey(readFileSync(rsa.path, "utf8"))).toThrow("The key must be an ed25519 key.");
    expect(() => readPrivateKey("secret")).toThrow(/^The key must be a private key of OpenSSH.$/);
  });

  test.each(["", "ssh-ed25519", "ssh-ed25519 %%%", `ssh-rsa ${OURS.publicKey.split(" ")[1]}`, "x y z"])(
    "[GI6] the line %j is not a public key",
    (line) => {
      expect(readPublicKey(line)).toBeNull();
    },
  );

  test("[GI6] a fingerprint is the one that people compare", () => {
    expect(fingerprintOf(readPublicKey(OURS.publicKey)?.blob ?? Buffer.alloc(0))).toBe(OURS.fingerprint);
  });
});

describe("signatures", () => {
  test("[GI7] a signature is the one that ssh-keygen makes, byte by byte", () => {
    const path = join(temporaryFolder(), "key");
    writeFileSync(path, OURS.privateKey, { mode: 0o600 });
    for (const content of ["", "x", "line\n".repeat(500)]) {
      expect(sshSigner(OURS.privateKey)(Buffer.from(content))).toBe(
        keygen(["-Y", "sign", "-n", "git", "-f", path], content),
      );
    }
  });

  test.each([
    ["ed25519", ["-t", "ed25519"]],
    ["RSA", ["-t", "rsa", "-b", "2048"]],
    ["ECDSA of 256 bits", ["-t", "ecdsa", "-b", "256"]],
    ["ECDSA of 384 bits", ["-t", "ecdsa", "-b", "384"]],
    ["ECDSA of 521 bits", ["-t", "ecdsa", "-b", "521"]],
  ])("[GI8] a signature by a key of %s is verified, and one of other content is not", async (_, options) => {
    const { path, publicKey } = keyFile(...options);
    for (const hash of ["sha256", "sha512"]) {
      const signature = keygen(["-Y", "sign", "-n", "git", "-O", `hashalg=${hash}`, "-f", path], "content");
      expect(await verifySignature(signature, Buffer.from("content"))).toEqual(readPublicKey(publicKey)?.blob);
      expect(await verifySignature(signature, Buffer.from("Content"))).toBeNull();
    }
  });

  test("[GI8] a short key of RSA does not count", async () => {
    const { path } = keyFile("-t", "rsa", "-b", "1024");
    expect(await verifySignature(keygen(["-Y", "sign", "-n", "git", "-f", path], "x"), Buffer.from("x"))).toBeNull();
  });

  test("[GI8] a signature for another purpose does not count", async () => {
    const { path } = keyFile("-t", "ed25519");
    expect(await verifySignature(keygen(["-Y", "sign", "-n", "file", "-f", path], "x"), Buffer.from("x"))).toBeNull();
  });

  test.each(["ed25519", "ecdsa"] as const)("[GI8] a security key of %s counts where it was touched", async (kind) => {
    const { privateKey, publicKey } =
      kind === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    const bytes = (text: string) => Buffer.from(text, "base64url");
    const key =
      kind === "ed25519"
        ? [wireString("sk-ssh-ed25519@openssh.com"), wireString(bytes(x))]
        : [
            wireString("sk-ecdsa-sha2-nistp256@openssh.com"),
            wireString("nistp256"),
            wireString(Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)])),
          ];
    const blob = Buffer.concat([...key, wireString("ssh:")]);
    const digest = (data: Buffer | string) => createHash("sha256").update(data).digest();
    const made = (flags: number) => {
      const hashed = createHash("sha512").update("content").digest();
      const head = [wireString("git"), wireString(""), wireString("sha512")];
      const data = Buffer.concat([Buffer.from("SSHSIG"), ...head, wireString(hashed)]);
      const tail = Buffer.concat([Buffer.from([flags]), wireNumber(7)]);
      const signed = Buffer.concat([digest("ssh:"), tail, digest(data)]);
      const raw = signWith(kind === "ed25519" ? null : "sha256", signed, {
        key: privateKey,
        dsaEncoding: "ieee-p1363",
      });
      const numbers = [raw.subarray(0, 32), raw.subarray(32)].map((number) =>
        wireString(Buffer.concat([Buffer.alloc(1), number])),
      );
      const signature = kind === "ed25519" ? raw : Buffer.concat(numbers);
      const whole = Buffer.concat([wireString(blob.subarray(4, 4 + blob.readUInt32BE())), wireString(signature), tail]);
      return armored(
        LABEL,
        Buffer.concat([Buffer.from("SSHSIG"), wireNumber(1), wireString(blob), ...head, wireString(whole)]),
      );
    };
    expect(await verifySignature(made(1), Buffer.from("content"))).toEqual(blob);
    expect(await verifySignature(made(1), Buffer.from("other"))).toBeNull();
    expect(await verifySignature(made(0), Buffer.from("content"))).toBeNull();
  });

  test("[GI8] a signature with any byte changed, cut or added is not one of the content", async () => {
    const content = Buffer.from("content");
    const good = unarmored(LABEL, sshSigner(OURS.privateKey)(content)) ?? Buffer.alloc(0);
    expect(await verifySignature(armored(LABEL, good), content)).not.toBeNull();
    for (let at = 0; at < good.length; at++) {
      const flipped = Buffer.from(good);
      flipped[at] = (flipped[at] ?? 0) ^ 0x41;
      const key = await verifySignature(armored(LABEL, flipped), content);
      // Bytes of the reserved field are not part of what is signed; the key that is found must still be ours.
      if (key !== null) expect.fail(`The byte ${at} can be changed.`);
      expect(await verifySignature(armored(LABEL, good.subarray(0, at)), content)).toBeNull();
    }
    expect(await verifySignature(armored(LABEL, Buffer.concat([good, Buffer.from("x")])), content)).toBeNull();
    for (const text of ["", "x", good.toString("base64")]) expect(await verifySignature(text, content)).toBeNull();
  });
});

/** Commits one after the other, by whom the test says. */
function history(
  signers: readonly (string | null)[],
  root?: string,
): { objects: GitObject[]; commits: ParsedCommit[] } {
  const objects: GitObject[] = [];
  let parent: string | undefined = root;
  for (const [index, privateKey] of signers.entries()) {
    const commit = commitOf(
      draft({ parents: parent ? [parent] : [], subject: `change ${index}` }),
      privateKey === null ? null : sshSigner(privateKey),
    );
    objects.push(commit);
    parent = commit.id;
  }
  return { objects, commits: objects.map(({ content }) => parseCommit(content)) };
}

const cpuMsSince = (start: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
};

describe("the history", () => {
  const [ours, theirs, stranger] = [OURS.privateKey, THEIRS.privateKey, sshKeyOf(Buffer.alloc(32, 3), "").privateKey];

  test("[GI9] commits of the allowed signers are verified, each with who signed it", async () => {
    const { commits } = history([ours, theirs, ours]);
    expect(await verifyHistory({ applied: null, head: commits[2]?.id ?? "", commits }, SIGNERS)).toEqual({
      result: "verified",
      commits: commits.map(({ id }, index) => ({ id, principal: index === 1 ? "ada@example.com" : "binnacle" })),
    });
    const later = { applied: commits[0]?.id ?? "", head: commits[2]?.id ?? "", commits: commits.slice(1) };
    expect((await verifyHistory(later, SIGNERS)).result).toBe("verified");
    const none = { applied: commits[2]?.id ?? "", head: commits[2]?.id ?? "", commits: [] };
    expect(await verifyHistory(none, [])).toEqual({ result: "verified", commits: [] });
  });

  test.each([
    ["unsigned", [ours, null, stranger, ours], 1],
    ["unknown_signer", [ours, theirs, stranger, null], 2],
  ] as const)("[GI9] the first commit that is %s is named", async (reason, signers, at) => {
    const { commits } = history(signers);
    const found = await verifyHistory({ applied: null, head: commits.at(-1)?.id ?? "", commits }, SIGNERS);
    expect(found).toMatchObject({ result: "bad", reason, commit: commits[at]?.id });
    expect(found).toHaveProperty("message", expect.stringContaining(commits[at]?.id ?? "-"));
  });

  test("[GI9] a commit in the middle with the signature of another is found, however many there are", async () => {
    const { objects } = history(Array.from({ length: 40 }, () => ours));
    const middle = parseCommit(objects[20]?.content ?? Buffer.alloc(0));
    const forged = parseCommit(
      commitOf(draft({ parents: middle.parents, subject: "forged" }), () => middle.signature ?? "").content,
    );
    const rest = history(
      Array.from({ length: 19 }, () => ours),
      forged.id,
    );
    const commits = [...objects.slice(0, 20).map(({ content }) => parseCommit(content)), forged, ...rest.commits];
    const found = await verifyHistory({ applied: null, head: commits.at(-1)?.id ?? "", commits }, SIGNERS);
    expect(found).toMatchObject({ result: "bad", reason: "bad_signature", commit: forged.id });
  });

  test("[GI9] the commits that a merge brings are verified too", async () => {
    const { commits } = history([ours, ours]);
    const [root, applied] = commits;
    const side = parseCommit(commitOf(draft({ parents: [root?.id ?? ""], subject: "side" }), null).content);
    const merge = parseCommit(
      commitOf(draft({ parents: [applied?.id ?? "", side.id], subject: "merge" }), sshSigner(ours)).content,
    );
    const found = await verifyHistory({ applied: applied?.id ?? "", head: merge.id, commits: [side, merge] }, SIGNERS);
    expect(found).toMatchObject({ result: "bad", reason: "unsigned", commit: side.id });
  });

  test("[GI10] a head that does not come from the applied commit is a rewritten history, whoever signed it", async () => {
    const { commits } = history([ours, ours, ours]);
    const [first, second, third] = commits;
    const ids = commits.map(({ id }) => id);
    const rewritten = { result: "rewritten" };
    const other = "5".repeat(40);
    for (const [applied, head, list] of [
      [other, ids[2], commits],
      [ids[2], ids[0], []],
      [other, ids[2], []],
      // One is missing, or one too many is there.
      [ids[0], ids[2], [third]],
      [null, ids[2], [second, third]],
      [null, ids[1], [first, second, third]],
      [ids[0], ids[2], [first, second, third]],
    ] as const) {
      const found = await verifyHistory(
        { applied: applied ?? null, head: head ?? "", commits: list.flatMap((commit) => commit ?? []) },
        SIGNERS,
      );
      expect(found).toEqual(rewritten);
    }
  });

  test("[GI11] a thousand signed commits on 200 files are what Git calls correct, and ten thousand are verified in seconds", async () => {
    const sign = sshSigner(ours);
    const path = (file: number) => `apps/project-${file % 10}/app-${file}.yaml`;
    let { tree, objects } = changedTree(
      EMPTY_TREE,
      new Map(Array.from({ length: 200 }, (_, file) => [path(file), blobOf(`file ${file}\n`.repeat(40))])),
    );
    const all: GitObject[] = [...objects];
    const commits: GitObject[] = [];
    const making = process.cpuUsage();
    for (let change = 0; change < 1_000; change++) {
      ({ tree, objects } = changedTree(tree, new Map([[path(change % 200), blobOf(`change ${change}\n`.repeat(40))]])));
      const parents = commits.slice(-1).map(({ id }) => id);
      const commit = commitOf(draft({ tree: tree.id, parents, subject: `change ${change}` }), sign);
      all.push(...objects, commit);
      commits.push(commit);
    }
    const madeMs = cpuMsSince(making);
    const { folder, git, write } = gitFolder();
    write(all);
    git(["update-ref", "refs/heads/main", commits.at(-1)?.id ?? ""]);
    expect(git(["fsck", "--strict", "--no-dangling"])).toBe("");
    writeFileSync(join(folder, "signers"), allowedSignersFile(SIGNERS));
    chmodSync(join(folder, "signers"), 0o644);
    git(["config", "gpg.ssh.allowedSignersFile", join(folder, "signers")]);
    expect(git(["log", "-20", "--format=%G? %GS"])).toBe("G binnacle\n".repeat(20));
    git(["verify-commit", "main"]);

    const { commits: many } = history(Array.from({ length: 10_000 }, () => ours));
    const verifying = process.cpuUsage();
    const found = await verifyHistory({ applied: null, head: many.at(-1)?.id ?? "", commits: many }, SIGNERS);
    const verifiedMs = cpuMsSince(verifying);
    expect(found.result).toBe("verified");
    // Of the processor, so that others on a busy machine do not count: some two seconds and three.
    expect({ madeMs, verifiedMs }).toSatisfy(() => madeMs < 15_000 && verifiedMs < 20_000);
  }, 240_000);

  test("[GI7] the file of allowed signers has one line for each key, and no name can allow more", () => {
    const lines = allowedSignersFile([
      ...SIGNERS,
      { principal: '* namespaces="x"\nroot', publicKey: OURS.publicKey },
      { principal: "x", publicKey: "nothing" },
    ]);
    expect(lines.split("\n")).toHaveLength(4);
    expect(lines.split("\n")[2]).toBe(
      `--namespaces=-x--root namespaces="git" ${OURS.publicKey.split(" ").slice(0, 2).join(" ")}`,
    );
  });

  test("[GI8] a text of SSH that ends too early, or has more than it should, is refused", () => {
    expect(() => wireReader(wireString("abc").subarray(0, 6)).string()).toThrow("too early");
    expect(() => wireReader(wireNumber(2 ** 32 - 1)).string()).toThrow("too early");
    expect(() => wireReader(Buffer.alloc(1)).end()).toThrow("left");
  });
});
