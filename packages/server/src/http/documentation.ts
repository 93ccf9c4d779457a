import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Environment } from "../config.ts";
import { forbidden, unauthenticated } from "../fault.ts";
import { credentialOf } from "./authentication.ts";
import type { RoutePorts } from "./register.ts";

/** `/docs` and `/openapi.json`, at the root and under the API's base: open locally, for superusers in staging. */
export async function registerDocumentation(
  app: FastifyInstance,
  base: string,
  document: Record<string, unknown>,
  environment: Environment,
  ports: Pick<RoutePorts, "tokens" | "sights" | "clock">,
): Promise<void> {
  if (environment === "production") return;

  async function onlySuperusers(request: FastifyRequest): Promise<void> {
    if (environment === "local") return;
    const credential = await credentialOf(ports.tokens, request.headers.authorization);
    const caller = credential && (await ports.sights.caller(credential, ports.clock()));
    if (!caller) throw unauthenticated();
    if (!caller.isSuperuser || caller.via !== "user") throw forbidden();
  }

  const text = JSON.stringify(document);
  for (const prefix of ["", base]) {
    app.get(`${prefix}/openapi.json`, { onRequest: onlySuperusers }, (_request, reply) =>
      reply.type("application/json").send(text),
    );
    await app.register(async (scope) => {
      await scope.register(swagger, { mode: "static", specification: { document: document as never } });
      await scope.register(swaggerUi, {
        routePrefix: `${prefix}/docs`,
        uiConfig: { persistAuthorization: false },
        uiHooks: { onRequest: async (request) => onlySuperusers(request) },
        staticCSP: true,
      });
    });
  }
}
