import type { FastifySwaggerUiOptions } from "@fastify/swagger-ui";

/** The look of the page at `/docs`, and how it signs in. */

const INK = "#0f2a3d";
const BRASS = "#e0a63a";

/** A compass, as a binnacle holds one. */
const MARK =
  `<circle cx="16" cy="16" r="14" fill="${INK}" stroke="${BRASS}" stroke-width="2.5"/>` +
  `<path d="M16 5.5 20 16h-8z" fill="${BRASS}"/><path d="M16 26.5 12 16h8z" fill="#fff"/>` +
  `<circle cx="16" cy="16" r="1.8" fill="${INK}"/>`;

const svg = (width: number, content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 32" width="${width}" height="32">${content}</svg>`;

const WORD = `<text x="42" y="22.5" font-family="system-ui,sans-serif" font-size="19" font-weight="600" textLength="94" fill="#fff">Binnacle</text>`;

/** The field for the address of another document would lead away from this API, and clients have no credentials here. */
const CSS = `
.swagger-ui .topbar { background: ${INK}; padding: 8px 0; }
.swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .topbar .link { flex: 0 0 auto; margin-right: auto; }
.swagger-ui .info { margin: 28px 0 20px; }
.swagger-ui .scheme-container { padding: 16px 0; box-shadow: none; border: solid #d9dee3; border-width: 1px 0; }
.swagger-ui .filter .operation-filter-input { margin: 16px 0; border-width: 1px; }
.swagger-ui .auth-container .scope-def,
.swagger-ui .auth-container div:has(> label[for="password_type"]),
.swagger-ui .auth-container div:has(> label[for^="client_"]) { display: none; }
.sign-in { max-width: 320px; margin: 15vh auto 0; font-family: system-ui, sans-serif; color: ${INK}; }
.sign-in label { display: block; margin: 12px 0; }
.sign-in input { display: block; box-sizing: border-box; width: 100%; margin-top: 4px; padding: 8px; font: inherit; }
.sign-in button { padding: 8px 16px; font: inherit; color: #fff; background: ${INK}; border: 0; border-radius: 4px; cursor: pointer; }
.sign-in [role="alert"] { color: #b42318; }
`;

export const DOCUMENTATION_PAGE = {
  logo: { type: "image/svg+xml", content: svg(140, MARK + WORD) },
  theme: {
    title: "Binnacle API",
    css: [{ filename: "binnacle.css", content: CSS }],
    favicon: [{ filename: "binnacle.svg", rel: "icon", type: "image/svg+xml", sizes: "any", content: svg(32, MARK) }],
  },
  uiConfig: {
    // A list of a hundred operations is searched, not read.
    docExpansion: "none",
    filter: true,
    defaultModelsExpandDepth: 0,
    // A token in the storage of the browser could be read by every script of the origin, which is the console's too.
    persistAuthorization: false,
  },
} satisfies FastifySwaggerUiOptions;
