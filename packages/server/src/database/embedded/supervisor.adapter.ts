import { setTimeout as delay } from "node:timers/promises";
import { type Binaries, installedPackage, prepareBinaries } from "./binaries.adapter.ts";
import { type Folders, isCluster } from "./folders.adapter.ts";
import { createCluster, type Launched, launch, readPidFile } from "./launch.adapter.ts";
import { type OwnerSession, probeSocket } from "./owner-session.adapter.ts";
import { isOwnedBy } from "./ownership.adapter.ts";
import { DataDirectoryInUse } from "./placement.ts";
import { failureReason, isPassingFailure } from "./postmaster-state.ts";
import { endStrandedBackends, isPostmaster, stopPostmaster } from "./processes.adapter.ts";

export type Log = (message: string, fields?: Record<string, unknown>) => void;

/** A running database with the advisory lock of this server. */
interface LockedDatabase {
  readonly session: OwnerSession;
  readonly pid: number;
  readonly socket: { readonly folder: string; readonly port: number };
}

const POLL_MS = 15;
/** A sign of life restarts the time: replaying a long log after a crash may take minutes and must not be aborted. */
const SILENCE_MAX_MS = 15_000;
const LOCK_WAIT_MS = 2_000;
const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 500;

export class Supervisor {
  readonly #folders: Folders;
  readonly #log: Log;
  readonly #onLost: (error: Error) => void;
  readonly #silenceMaxMs: number;
  #launched: Launched | undefined;
  #held: LockedDatabase | undefined;
  /** The process that a stop must end. It stays known while the lock is lost for a moment. */
  #postmasterPid: number | undefined;
  #socketDir: string;
  #recovery: Promise<void> | undefined;
  #stop: Promise<void> | undefined;

  constructor(folders: Folders, log: Log, onLost: (error: Error) => void, silenceMaxMs = SILENCE_MAX_MS) {
    this.#folders = folders;
    this.#log = log;
    this.#onLost = onLost;
    this.#silenceMaxMs = silenceMaxMs;
    this.#socketDir = folders.socketDir;
  }

  async start(): Promise<{ tookOver: boolean; socket: LockedDatabase["socket"] }> {
    // A database is created at the start only: a disk that is unmounted later must not lead to an empty one.
    if (!(await isCluster(this.#folders.pgdata))) {
      this.#log("making the database", { folder: this.#folders.pgdata });
      await createCluster(this.#folders, await this.#binaries());
    }
    const held = await this.#own("start");
    // Clients keep this address, so a restart after a takeover must open the same socket again.
    this.#socketDir = held.socket.folder;
    return { tookOver: held.pid !== this.#launched?.pid, socket: held.socket };
  }

  stop(): Promise<void> {
    this.#stop ??= this.#end();
    return this.#stop;
  }

  /** Gets a locked database, at the start and after a loss: takes over the running one, or launches one. */
  async #own(occasion: "start" | "restart"): Promise<LockedDatabase> {
    let deadline = Date.now() + this.#silenceMaxMs;
    let backoffMs = BACKOFF_FIRST_MS;
    let reason = "it does not answer";
    while (this.#stop === undefined && Date.now() <= deadline) {
      const answer = await this.#ask();
      if (typeof answer === "object") return answer;
      if (answer === "busy") deadline = Date.now() + this.#silenceMaxMs;
      if (answer === "absent") {
        const askedAt = Date.now();
        const binaries = await this.#binaries().catch((error: Error) => error);
        // The time of copying the program on a slow disk does not count as silence.
        deadline += Date.now() - askedAt;
        const failure =
          binaries instanceof Error ? { message: binaries.message, passes: false } : await this.#launch(binaries);
        if (failure) {
          reason = failure.message;
          // At the start a permanent failure is reported at once. Later it is retried, because a full disk may be
          // cleared.
          if (occasion === "start" && !failure.passes) break;
          await endStrandedBackends(this.#folders.pgdata);
          await delay(backoffMs);
          backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
        }
      }
      await delay(POLL_MS);
    }
    if (this.#launched) await stopPostmaster(this.#launched.pid, this.#folders.pgdata);
    throw new Error(`The database in ${this.#folders.pgdata} cannot be started: ${reason.replace(/\.$/, "")}.`);
  }

  async #ask(): Promise<LockedDatabase | "busy" | "silent" | "absent"> {
    const { pgdata, account } = this.#folders;
    const before = await readPidFile(pgdata);
    if (before?.socket) {
      const answer = await probeSocket(before.socket, pgdata);
      if (answer.kind === "busy") return "busy";
      if (answer.kind === "ready" && (await this.#lock(answer.session))) {
        // The file is read again, because it may have been stale while the database was starting.
        const pid = (await readPidFile(pgdata))?.pid ?? before.pid;
        if (await isOwnedBy(pgdata, account)) {
          return this.#hold({ session: answer.session, pid, socket: before.socket });
        }
        // An earlier version has started it as `nobody`. It starts again as its own user, who gets the files first.
        await stopPostmaster(pid, pgdata);
        await answer.session.close();
        return "busy";
      }
    }
    const isRunning = this.#launched?.isRunning() || (before !== undefined && isPostmaster(before.pid, pgdata));
    return isRunning ? "silent" : "absent";
  }

  /** Returns false where the session ends, for example because the database is being stopped. */
  async #lock(session: OwnerSession): Promise<boolean> {
    // The backend of a server that was just killed needs a moment to release its lock.
    const deadline = Date.now() + LOCK_WAIT_MS;
    try {
      while (!(await session.tryLock())) {
        if (Date.now() > deadline) {
          // The holder of the lock owns this database, even if this server launched the process.
          this.#launched = undefined;
          this.#postmasterPid = undefined;
          await session.close();
          throw new DataDirectoryInUse(this.#folders.dataDir);
        }
        await delay(POLL_MS);
      }
      return true;
    } catch (error) {
      if (error instanceof DataDirectoryInUse) throw error;
      await session.close();
      return false;
    }
  }

  #hold(held: LockedDatabase): LockedDatabase {
    this.#held = held;
    this.#postmasterPid = held.pid;
    void held.session.ended.then(() => this.#lose(held));
    return held;
  }

  /**
   * Reports how the previous launch has ended. It launches only if there is nothing to report, because the remains of a
   * dead postmaster must be removed first.
   */
  async #launch(binaries: Binaries): Promise<{ message: string; passes: boolean } | undefined> {
    const previous = this.#launched;
    if (previous) {
      this.#launched = undefined;
      const said = previous.said();
      const message = failureReason(said) ?? `it has ended at once, see ${this.#folders.logFile}`;
      return { message, passes: isPassingFailure(said) };
    }
    try {
      const launched = await launch(this.#folders, this.#socketDir, binaries);
      this.#launched = launched;
      this.#postmasterPid = launched.pid;
      void launched.exited.then(() => {
        if (this.#held?.pid === launched.pid) this.#lose(this.#held);
      });
      return undefined;
    } catch (error) {
      return { message: (error as Error).message, passes: false };
    }
  }

  #binaries(): Promise<Binaries> {
    const { account, systemFolder, home } = this.#folders;
    return prepareBinaries(installedPackage(), account ? [systemFolder, home] : [home], account);
  }

  #lose(held: LockedDatabase): void {
    if (this.#held !== held || this.#stop !== undefined) return;
    this.#held = undefined;
    this.#log("the database has ended unexpectedly, restarting it", { pid: held.pid });
    this.#recovery = this.#recover(held);
  }

  async #recover(lost: LockedDatabase): Promise<void> {
    const startedAt = Date.now();
    void lost.session.close();
    try {
      const held = await this.#own("restart");
      this.#log("the database is back", { pid: held.pid, tookMs: Date.now() - startedAt });
    } catch (error) {
      if (this.#stop === undefined) this.#onLost(error as Error);
    }
  }

  async #end(): Promise<void> {
    // A restart under way notices the stop, launches nothing more and stops what it has launched.
    await this.#recovery;
    const { pgdata } = this.#folders;
    if (this.#postmasterPid !== undefined) await stopPostmaster(this.#postmasterPid, pgdata);
    await this.#held?.session.close();
    await endStrandedBackends(pgdata);
  }
}
