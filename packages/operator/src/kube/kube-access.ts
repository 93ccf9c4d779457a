/** The credentials for the API server. */
export interface Identity {
  readonly token: string | null;
  /** In PEM, as is the key. */
  readonly certificate: string | null;
  readonly key: string | null;
}

/** The way to one cluster, as one user. */
export interface KubeAccess {
  readonly server: string;
  readonly ca: string | null;
  readonly isInsecure: boolean;
  /** The name in the server's certificate, when it is not that of its address. */
  readonly serverName: string | null;
  /** Where we run, or what the kubeconfig prefers. */
  readonly namespace: string | null;
  /** Asked before each request, so it is cheap. After a refusal what is cached is thrown away. */
  identity(options?: { readonly isRefused?: boolean }): Promise<Identity>;
  /** The way to an API server in this very process, in the place of sockets. */
  readonly connection?: KubeConnection;
}

export interface ExecCredential extends Identity {
  /** Null when it lasts as long as the process. */
  readonly expiresAtMs: number | null;
}

/** The credential that a plugin has printed; null when it is not one. */
export function parseExecCredential(output: string): ExecCredential | null {
  const status = statusIn(output);
  if (!status) return null;
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
  const hasPair = isText(clientCertificateData) && isText(clientKeyData);
  if (!isText(token) && !hasPair) return null;
  const expiresAtMs = isText(expirationTimestamp) ? Date.parse(expirationTimestamp) : Number.NaN;
  return {
    token: isText(token) ? token : null,
    certificate: hasPair ? clientCertificateData : null,
    key: hasPair ? clientKeyData : null,
    expiresAtMs: Number.isNaN(expiresAtMs) ? null : expiresAtMs,
  };
}

function statusIn(output: string): Readonly<Record<string, unknown>> | null {
  try {
    const credential = JSON.parse(output);
    const status = credential?.kind === "ExecCredential" ? credential.status : null;
    return typeof status === "object" ? status : null;
  } catch {
    return null;
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** The address of the API server within a cluster, or null outside of one. */
export function inClusterServer(env: Readonly<Record<string, string | undefined>>): string | null {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) return null;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A request as it is sent: its path with the query, its body as text. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
}

/** The head of an answer, with its body still to be read. */
export interface KubeAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array> & {
    text(): Promise<string>;
    /** For a body that nobody wants. */
    dump(): Promise<void>;
  };
}

/** A transport to an API server. */
export interface KubeConnection {
  request(request: SentRequest): Promise<KubeAnswer>;
}
