import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { credentialOf } from "../accounts/bearer.ts";
import type { Environment } from "../config.ts";
import { forbidden, unauthenticated } from "../fault.ts";
import { pathOf } from "../upgrades.adapter.ts";
import { DOCUMENTATION_PAGE } from "./documentation-page.ts";
import { signInPage, signInScript } from "./documentation-sign-in.ts";
import { refuseOtherMethods } from "./refusals.adapter.ts";
import type { RoutePorts } from "./register.adapter.ts";

/**
 * Registers `/docs` and `/openapi.json`, at the root and under the API's base. They are public in `local` and for
 * superusers in `staging`, where a browser gets a page that asks for a password. The document is written when somebody first asks
 * for it: it takes a tenth of a start.
 */
export async function registerDocumentation(
  app: FastifyInstance,
  base: string,
  describe: () => Record<string, unknown>,
  environment: Environment,
  ports: Pick<RoutePorts, "tokens" | "places" | "clock">,
): Promise<void> {
  if (environment === "production") return;

  async function requireSuperuser(request: FastifyRequest): Promise<void> {
    const credential = await credentialOf(ports.tokens, request.headers.authorization, request.ip);
    const caller = credential && (await ports.places.caller(credential, ports.clock()));
    if (!caller) throw unauthenticated();
    if (!caller.isSuperuser || caller.via !== "user")
      throw forbidden("Only superusers who have signed in may read this.");
  }

  function guardDocuments(scope: FastifyInstance, docs: string, document: string): void {
    const page = signInPage(docs, DOCUMENTATION_PAGE.theme.title);
    const script = signInScript({ login: `${base}/login`, document }, DOCUMENTATION_PAGE.uiConfig);
    scope.addHook("onRequest", async (request, reply) => {
      const path = pathOf(request.raw).replace(/\/$/, "");
      // The files of Swagger UI are the same everywhere, and a browser loads them without a token.
      if (path === `${docs}/sign-in.js` || path.startsWith(`${docs}/static/`)) return;
      const { accept = "", authorization } = request.headers;
      if (path !== docs || authorization !== undefined || !accept.includes("text/html"))
        return requireSuperuser(request);
      return reply.header("cache-control", "no-store").type("text/html; charset=utf-8").send(page);
    });
    scope.get(`${docs}/sign-in.js`, async (_request, reply) =>
      reply.type("text/javascript; charset=utf-8").send(script),
    );
  }

  const document = onFirstUse(describe);
  const text = onFirstUse(() => JSON.stringify(document()));
  for (const prefix of ["", base]) {
    await app.register(async (scope) => {
      // The hook is on the scope, so that it covers the static files of the page too.
      if (environment !== "local") guardDocuments(scope, `${prefix}/docs`, `${prefix}/openapi.json`);
      scope.get(`${prefix}/openapi.json`, async (_request, reply) => reply.type("application/json").send(text()));
      await scope.register(swagger, { openapi: {}, hideUntagged: true, transformObject: document as never });
      await scope.register(swaggerUi, { routePrefix: `${prefix}/docs`, ...DOCUMENTATION_PAGE });
    });
    for (const path of ["/openapi.json", "/docs"]) refuseOtherMethods(app, prefix + path, ["GET"]);
  }
}

function onFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
