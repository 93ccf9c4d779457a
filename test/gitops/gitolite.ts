import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sshKeyOf } from "../../packages/server/src/git/ssh-key.ts";

export interface Gitolite {
  /** `ssh://user@127.0.0.1:port`. */
  readonly url: string;
  readonly port: number;
  readonly hostKey: string;
  /** Of the user `admin`, who may write the administration repository. */
  readonly adminKey: string;
  /** The folder with the bare repositories. */
  readonly repositories: string;
  /** Runs a command on the host, as the user who has the repositories. */
  readonly run: (program: string, args: readonly string[], input?: string) => string;
  /** Starts the host again with another key. */
  readonly replaceHostKey: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const SHELLS = /\/(?:ba|da|z)?sh$/;

/** Gitolite runs as Debian's user for it where the tests are root's, and else as who runs them. */
function account(): { name: string; uid: number; gid: number } {
  const wanted = process.getuid?.() === 0 ? "gitolite3" : String(process.getuid?.());
  const [name = "", , uid, gid, , , shell = ""] = execFileSync("getent", ["passwd", wanted])
    .toString()
    .trim()
    .split(":");
  if (!SHELLS.test(shell)) throw new Error(`The user ${name} needs a shell, because sshd starts gitolite by it.`);
  return { name, uid: Number(uid), gid: Number(gid) };
}

/** A real gitolite behind OpenSSH's sshd, on a port of this machine and in a folder of its own. */
export async function startGitolite(): Promise<Gitolite> {
  const { name, uid, gid } = account();
  // Not in the folder of the run, which only its owner can enter.
  const folder = mkdtempSync("/tmp/gitolite-");
  chmodSync(folder, 0o755);
  const home = join(folder, "home");
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, uid, gid);
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: home, USER: name, LOGNAME: name, LC_ALL: "C" };
  const run: Gitolite["run"] = (program, args, input = "") =>
    execFileSync(program, args, { cwd: home, env, uid, gid, input, stdio: ["pipe", "pipe", "pipe"] }).toString();

  const admin = sshKeyOf(Buffer.alloc(32, 77), "admin");
  writeFileSync(join(home, "admin.pub"), `${admin.publicKey}\n`);
  chownSync(join(home, "admin.pub"), uid, gid);
  run("gitolite", ["setup", "-pk", join(home, "admin.pub")]);

  const port = await freePort();
  const hostKeyFile = join(home, "host_key");
  run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", hostKeyFile]);
  const config = join(home, "sshd_config");
  writeFileSync(
    config,
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${hostKeyFile}`,
      `AuthorizedKeysFile ${home}/.ssh/authorized_keys`,
      "StrictModes no",
      "UsePAM no",
      "PidFile none",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "MaxStartups 100",
      `SetEnv HOME=${home}`,
      "",
    ].join("\n"),
  );

  const start = async () => {
    const child = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", config], { env, uid, gid, stdio: "ignore" });
    const ended = new Promise<void>((done) => child.once("exit", () => done()));
    for (let tries = 0; !(await answers(port)); tries++) {
      if (child.exitCode !== null || tries > 100) throw new Error("sshd did not start.");
      await pause(50);
    }
    return async () => {
      child.kill("SIGTERM");
      await ended;
    };
  };
  let stop = await start();
  return {
    url: `ssh://${name}@127.0.0.1:${port}`,
    port,
    hostKey: readFileSync(`${hostKeyFile}.pub`, "utf8").split(" ").slice(0, 2).join(" "),
    adminKey: admin.privateKey,
    repositories: join(home, "repositories"),
    run,
    async replaceHostKey() {
      await stop();
      rmSync(hostKeyFile);
      rmSync(`${hostKeyFile}.pub`);
      run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", hostKeyFile]);
      stop = await start();
    },
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => done(true));
    socket.once("error", () => done(false));
    socket.once("close", () => done(false));
  }).then((answer) => answer === true);
}
