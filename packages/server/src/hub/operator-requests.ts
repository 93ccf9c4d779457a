import type {
  ComponentRun,
  DescribedDisk,
  ExecStream,
  LeftObject,
  LocalVolume,
  LogLine,
  Metrics,
  ObservationRequest,
  ObservedAnswers,
  ObservedUpgrade,
  OperatorUpgradeRequest,
  RunRequest,
  RunStatusRequest,
  TerminalSize,
} from "@binnacle/contract";
import { Fault } from "../fault.ts";

export interface LogRequest {
  readonly clusterId: string;
  readonly namespace: string;
  readonly app: string;
  readonly component: string;
  readonly tailLines: number;
  readonly sinceSeconds: number | null;
  readonly follow: boolean;
  readonly previous: boolean;
  /** Of this run alone, whose status the same operator has been asked for. */
  readonly run?: string;
}

export interface MetricsRequest {
  readonly clusterId: string;
  /** Null asks for the cluster alone. */
  readonly app: { readonly namespace: string; readonly name: string } | null;
  readonly rangeSeconds: number;
}

/** Stands in the place of lines that were lost on the way. */
export interface DroppedLines {
  readonly dropped: number;
}

export interface ExecRequest extends Omit<ExecStream, "name"> {
  readonly clusterId: string;
}

export interface ExecListener {
  output(channel: "stdout" | "stderr", data: Buffer): void;
  /** The command, or a buffer on the way to it, has consumed so much of the input. */
  taken(bytes: number): void;
  /** Called once, and nothing is called afterwards. */
  ended(end: ExecEnd): void;
}

/** `lost`: the connection of the operator, or of another server on the way to it. */
export type ExecEnd = { readonly exitCode: number } | { readonly failed: "lost" | "failed"; readonly message: string };

/** A command that an operator is ready to start. */
export interface ExecProcess {
  readonly pod: string;
  readonly container: string;
  /** How much input may be sent before some of it is consumed. */
  readonly inputBytes: number;
  start(listener: ExecListener): void;
  write(data: Buffer): void;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Lets the operator send as much more output. */
  credit(bytes: number): void;
  /** Ends it, also before it was started. The listener is not called again. */
  cancel(): void;
}

export interface LocalVolumes {
  readonly named: readonly LocalVolume[];
  readonly total: number;
}

/** Requests that only the operator of a cluster can answer, sent through the hub that holds its session. */
export interface OperatorRequests {
  /** Whether a hub holds a session of the cluster's operator. */
  isConnected(clusterId: string): Promise<boolean>;
  /**
   * Resolves once the operator has begun to answer. The lines end when there are no more, or with the signal. Throws a
   * `Fault`: `unavailable` without an operator, `timed_out` without an answer in time, `bad_gateway` for an error.
   */
  logs(request: LogRequest, signal: AbortSignal): Promise<AsyncIterable<LogLine | DroppedLines>>;
  /** Null where nothing on the cluster keeps series. Throws like `logs`. */
  metrics(request: MetricsRequest): Promise<Omit<Metrics, "range"> | null>;
  /**
   * Reads objects in the cluster. Throws like `logs`, and a `bad_gateway` where the operator is too old for the request.
   * `withinMs` is for callers that can do without the answer.
   */
  observe<R extends ObservationRequest>(
    clusterId: string,
    request: R,
    withinMs?: number,
  ): Promise<ObservedAnswers[R["name"]]>;
  /** Begins a run, or reads how it stands; null where there is none. Throws like `observe`. */
  run(clusterId: string, request: RunRequest | RunStatusRequest): Promise<ComponentRun | null>;
  /**
   * Resolves once the operator has chosen a container; nothing runs before `start`. Throws like `observe`, and where there is no
   * such container `not_found`, where none runs `conflict`, and where too many are open `rate_limited`.
   */
  exec(request: ExecRequest): Promise<ExecProcess>;
  /**
   * Drains the nodes, which are named as in the module of their cluster, and resolves once none of their pods is left. Throws
   * like `observe`, and `timed_out` with what is left after ten minutes, or the time of the signal. Any other signal ends it with its reason.
   */
  drainNodes(clusterId: string, nodes: readonly string[], signal: AbortSignal): Promise<void>;
  /**
   * Removes the load balancers and volumes that Kubernetes has made in the cloud, and resolves once they are gone. Nothing runs
   * in the cluster afterwards. Throws like `drainNodes`.
   */
  removeCloudObjects(clusterId: string, signal: AbortSignal): Promise<void>;
  /** Reads which volumes the disks of the cloud are, by their ids. Changes nothing. Throws like `observe`. */
  describeDisks(clusterId: string, disks: readonly string[]): Promise<readonly DescribedDisk[]>;
  /** Reads the volumes whose data is on these nodes alone. Of very many only the first are named. Throws like `observe`. */
  localVolumes(clusterId: string, nodes: readonly string[]): Promise<LocalVolumes>;
  /** Has the operator run another image, or reads how that stands. Throws like `observe`. */
  upgrade(clusterId: string, request: OperatorUpgradeRequest): Promise<ObservedUpgrade>;
  /** Has the operator let go of everything, and reads what is left; nothing once it is done. Throws like `observe`. */
  detach(clusterId: string): Promise<readonly LeftObject[]>;
  /** Makes the operator reconcile and report everything again. Throws like `logs`. */
  resync(clusterId: string): Promise<void>;
}

export const noOperatorConnected = () =>
  new Fault("unavailable", "No operator of the cluster is connected. Try again in a moment.");
