import { setTimeout as delay } from "node:timers/promises";
import { isOwnedBy } from "./account.adapter.ts";
import { type Binaries, installedPackage, majorOf, prepareBinaries, SHARED_FOLDER } from "./binaries.adapter.ts";
import { type Folders, hasRoom, isCluster, madeBy } from "./folders.adapter.ts";
import { createCluster, type Launched, launch, readPidFile } from "./launch.adapter.ts";
import { type OwnerSession, probeSocket } from "./owner-session.adapter.ts";
import { failureReason, isFullDisk, isTransientFailure, otherMajor } from "./postmaster-state.ts";
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

export class DataDirectoryInUse extends Error {
  override readonly name = "DataDirectoryInUse";

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another running Binnacle server. ` +
        "Stop that server first, or give this one a data folder of its own.",
    );
  }
}

/** The database of the folder cannot be started. The message says why, and what to do where that is known. */
export class DatabaseRefused extends Error {
  override readonly name = "DatabaseRefused";
}

interface Failure {
  readonly message: string;
  readonly isTransient: boolean;
}

const permanent = (error: Error): Failure => ({ message: error.message, isTransient: false });

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
  #isOutOfRoom = false;

  constructor(folders: Folders, log: Log, onLost: (error: Error) => void, silenceMaxMs = SILENCE_MAX_MS) {
    this.#folders = folders;
    this.#log = log;
    this.#onLost = onLost;
    this.#silenceMaxMs = silenceMaxMs;
    this.#socketDir = folders.socketDir;
  }

  async start(): Promise<{ tookOver: boolean; socket: LockedDatabase["socket"] }> {
    // A database is created at the start only: a disk that is unmounted later must not lead to an empty one.
    if (await isCluster(this.#folders.pgdata)) await this.#refuseOtherMajor();
    else {
      this.#log("making the database", { folder: this.#folders.pgdata });
      await createCluster(this.#folders, await this.#binaries());
    }
    const held = await this.#own("start");
    // Clients keep this address, so a restart after a takeover must open the same socket again.
    this.#socketDir = held.socket.folder;
    return { tookOver: held.pid !== this.#launched?.pid, socket: held.socket };
  }

  /** True while the database has ended and cannot be restarted because its disk is full. */
  get isOutOfRoom(): boolean {
    return this.#isOutOfRoom;
  }

  async #refuseOtherMajor(): Promise<void> {
    const { pgdata } = this.#folders;
    const [found, own] = [await madeBy(pgdata), await majorOf(installedPackage())];
    if (/^\d+$/.test(found) && found !== own) throw new DatabaseRefused(otherMajor(found, own, pgdata));
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
        const failure = binaries instanceof Error ? permanent(binaries) : await this.#launch(binaries);
        if (failure) {
          reason = failure.message;
          this.#noteRoom(reason);
          // Whoever makes room may take a day, and requests are told meanwhile what is wrong.
          if (this.#isOutOfRoom && occasion === "restart") deadline = Date.now() + this.#silenceMaxMs;
          // At the start a permanent failure is reported at once. Later it is retried, because a full disk may be
          // cleared.
          if (occasion === "start" && !failure.isTransient) break;
          await endStrandedBackends(this.#folders.pgdata);
          await delay(backoffMs);
          backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
        }
      }
      await delay(POLL_MS);
    }
    if (this.#launched) await stopPostmaster(this.#launched.pid, this.#folders.pgdata);
    const advice = this.#isOutOfRoom ? " Make room on its disk, and start again." : "";
    throw new DatabaseRefused(
      `The database in ${this.#folders.pgdata} cannot be started: ${reason.replace(/\.$/, "")}.${advice}`,
    );
  }

  #noteRoom(reason: string): void {
    const isFull = isFullDisk(reason);
    if (isFull && !this.#isOutOfRoom) this.#log("the disk of the database is full; it is restarted once there is room");
    this.#isOutOfRoom = isFull;
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
    this.#isOutOfRoom = false;
    void held.session.ended.then(() => this.#lose(held));
    return held;
  }

  /**
   * Reports how the previous launch has ended. It launches only if there is nothing to report, because the remains of a
   * dead postmaster must be removed first.
   */
  async #launch(binaries: Binaries): Promise<Failure | undefined> {
    const previous = this.#launched;
    if (previous) {
      this.#launched = undefined;
      const output = previous.output();
      return {
        message: failureReason(output) ?? (await this.#unloggedReason()),
        isTransient: isTransientFailure(output),
      };
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
      return permanent(error as Error);
    }
  }

  /** The log is on the disk of the database, and a full one takes no line that says so. */
  async #unloggedReason(): Promise<string> {
    const { pgdata, logFile } = this.#folders;
    const isFull = !(await hasRoom(pgdata).catch(() => true));
    return isFull ? "no space left on device" : `it has ended at once, see ${logFile}`;
  }

  #binaries(): Promise<Binaries> {
    const { account, dataDir } = this.#folders;
    return prepareBinaries(installedPackage(), account ? [SHARED_FOLDER, dataDir] : [dataDir], account);
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
