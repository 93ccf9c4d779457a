import type {
  ComponentRun,
  DesiredKind,
  DetachRequest,
  ExecFailure,
  ExecStream,
  HubFrames,
  InfrastructureAnswer,
  InfrastructureRequest,
  InventoryEntry,
  LeftObject,
  LinkSettings,
  LogLine,
  LogStream,
  Metrics,
  ObservationName,
  ObservationRequest,
  ObservedAnswers,
  ObservedUpgrade,
  OperatorFrames,
  OperatorUpgradeRequest,
  Reports,
  RunRequest,
  RunStatusRequest,
} from "@binnacle/contract";
import type { ExecOutput, ExecProcess } from "../kube/exec.ts";

export type MetricsRequest = Extract<HubFrames["request"]["request"], { name: "metrics" }>;
type ObservedAnswer<N extends ObservationName> = { readonly [K in N]: ObservedAnswers[N] };
export type LogStreamRequest = LogStream;

/** Lines that were lost on the way from a pod, in the place where they are missing. None: there is an answer, and lines may follow. */
export interface DroppedLines {
  readonly dropped: number;
}

/** A container in which a command can be started. */
export interface ExecTarget {
  readonly pod: string;
  readonly container: string;
  start(output: ExecOutput): ExecProcess;
}

/** Answers what the hub asks about the cluster. */
export interface Answerer {
  /** Null where nothing measures. */
  metrics(request: MetricsRequest): Promise<Omit<Metrics, "range"> | null>;
  /** Reads objects and events in the cluster at this moment. */
  observe(
    request: ObservationRequest,
  ): Promise<ObservedAnswer<"resources"> | ObservedAnswer<"events"> | ObservedAnswer<"deletion">>;
  /** Begins a run, or says how it stands. Null where there is none. */
  run(request: RunRequest | RunStatusRequest): Promise<{ readonly run: ComponentRun | null }>;
  /**
   * Clears nodes, or the whole cluster, of what must not be there when machines are taken away, and says what is left; or says which
   * volumes are concerned.
   */
  infrastructure(request: InfrastructureRequest): Promise<InfrastructureAnswer>;
  /** Has the operator run another image, or says how that stands. Left out where it may not. */
  upgrade?(request: OperatorUpgradeRequest): Promise<ObservedUpgrade>;
  /** Lets go of the cluster, and says what is left. Left out where that cannot be asked for. */
  detach?(request: DetachRequest): Promise<{ readonly left: LeftObject[] }>;
  /**
   * Begins with no lines dropped, at once: so the hub learns that somebody answers. Ends by itself unless it follows. Once the
   * signal is given, nobody takes anything any more.
   */
  logs(stream: LogStreamRequest, signal: AbortSignal): AsyncIterable<LogLine | DroppedLines>;
  /** Finds the container for a command, and starts nothing. */
  exec(stream: ExecStream): Promise<ExecTarget>;
}

/** Thrown by an answerer to say more than that it failed; the message is shown to people. */
export class AnswerError extends Error {
  override readonly name = "Unanswerable";
  readonly code: "not_found" | "unavailable" | "failed";

  constructor(code: AnswerError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown where a command cannot be started. */
export class ExecRefusal extends Error {
  override readonly name = "ExecRefusal";
  readonly code: ExecFailure;

  constructor(code: ExecFailure, message: string) {
    super(message);
    this.code = code;
  }
}

/** Carries out what the hub commands. */
export interface Commands {
  /** Look at everything again and report it. */
  resync(): void;
  /** Applies the organization's settings, at the start and after each change. */
  settings(settings: LinkSettings): void;
  /** With what private chart repositories are read from now on, and with nothing else. */
  chartRepositories(repositories: HubFrames["chart_repositories"]["chart_repositories"]): void;
}

/** Which desired state a report speaks of. `traceparent` names the trace of the change that it is the outcome of. */
export type Subject = Pick<InventoryEntry, "key" | "resource_id" | "generation"> &
  Pick<OperatorFrames["status"], "traceparent">;

/** Takes what reconcilers see. Of one key only the newest report counts; it is sent until the hub has it on record. */
export interface StatusSink {
  report<K extends DesiredKind>(kind: K, subject: Subject, report: Reports[K]): void;
}

export type BuildEvent = Omit<OperatorFrames["build"], "type" | "session">;
export type SampleEvent = Omit<OperatorFrames["samples"], "type" | "session">;

/**
 * Takes events that are sent once. While the hub is away, the newest state of each build is kept, and samples are
 * dropped, because they describe a past moment.
 */
export interface EventSink {
  build(events: BuildEvent): void;
  samples(events: SampleEvent): void;
}

/** The agent token, with which the operator shows which cluster it speaks for. */
export interface TokenStore {
  /** After a refusal the token is read again from its Secret: somebody may have replaced it. */
  current(options?: { readonly isRefused?: boolean }): Promise<string>;
  /** Comes back once the token is kept, and is used from the next connection on. */
  store(token: string): Promise<void>;
}

/** The log of the link; a pino logger fits. */
export interface LinkLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
