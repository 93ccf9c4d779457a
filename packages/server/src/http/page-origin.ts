import { forbidden } from "../fault.ts";
import { isLoopbackName } from "./addressed-host.ts";

type Headers = { readonly [name: string]: string | readonly string[] | undefined };

/** Throws a Fault if a page of another origin than Binnacle's own and the configured ones has sent a request. */
export type RefuseOtherPages = (headers: Headers) => void;

interface Origins {
  readonly isLocal: boolean;
  /** The address that people use, or the one that the server listens on where no other is known. */
  readonly publicUrl: () => string;
  readonly listenUrl: () => string;
  /** Other origins whose pages are trusted. */
  readonly corsOrigins: readonly string[];
}

/**
 * Browsers let any page send a form or open a WebSocket, and say which page it was; programs say nothing. The origin is compared with
 * the public address. A page decides what the Host header is, by the name that it gives to the address of this server.
 */
export function otherPagesRefusal({ isLocal, publicUrl, listenUrl, corsOrigins }: Origins): RefuseOtherPages {
  return (headers) => {
    const { origin, "sec-fetch-site": site } = headers;
    const isFromElsewhere = OTHER_SITES.includes(String(site));
    if (origin === undefined && !isFromElsewhere) return;
    if (typeof origin === "string" && corsOrigins.includes(origin)) return;
    const address = publicUrl();
    const isOwn = origin === new URL(address).origin || (isLocal && isOnThisMachine(String(origin), listenUrl()));
    if (isOwn && !isFromElsewhere) return;
    throw forbidden(
      `A page of this origin may not do this. The public address of Binnacle is ${new URL(address).origin}: open it there, correct ` +
        "BINNACLE_PUBLIC_URL, or add the origin to BINNACLE_CORS_ORIGINS.",
    );
  };
}

const OTHER_SITES = ["cross-site", "same-site"];

/** A local server has several names on its own machine, and people open the one that they remember. */
function isOnThisMachine(origin: string, listenUrl: string): boolean {
  const page = URL.parse(origin);
  const own = new URL(listenUrl);
  return (
    page?.origin === origin && page.protocol === own.protocol && page.port === own.port && isLoopbackName(page.hostname)
  );
}
