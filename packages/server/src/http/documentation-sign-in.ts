/**
 * The page at `/docs` where only superusers may read the document. A browser has no access token when it opens a page, so the page
 * asks for a password, keeps the token in memory and then loads the document. It holds nothing of the document itself.
 */
export const signInPage = (docs: string, title: string): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<title>${title}</title>
<link rel="stylesheet" href="${docs}/static/swagger-ui.css">
<link rel="stylesheet" href="${docs}/static/index.css">
<link rel="stylesheet" href="${docs}/static/theme/binnacle.css">
<link rel="icon" type="image/svg+xml" href="${docs}/static/theme/binnacle.svg">
</head>
<body>
<form class="sign-in">
<h1>${title}</h1>
<p>Superusers may read this. Sign in to go on.</p>
<label>Username or email <input name="username" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
<p role="alert"></p>
</form>
<div id="swagger-ui"></div>
<script src="${docs}/static/swagger-ui-bundle.js"></script>
<script src="${docs}/sign-in.js"></script>
</body>
</html>
`;

interface Addresses {
  readonly login: string;
  readonly document: string;
}

/** The script of the page. It leaves the cookies alone, and with them the session of the console in the same browser. */
export const signInScript = ({ login, document }: Addresses, uiConfig: object): string => `
const form = document.querySelector("form");
const problem = form.querySelector("[role=alert]");

async function read(answer) {
  const body = await answer.json();
  if (!answer.ok) throw new Error(typeof body.detail === "string" ? body.detail : "The name or the password is too long.");
  return body;
}

async function signIn(body) {
  const answer = await fetch(${JSON.stringify(login)}, { method: "POST", credentials: "omit", body });
  return (await read(answer)).access_token;
}

async function open(token) {
  const authorization = "Bearer " + token;
  const answer = await fetch(${JSON.stringify(document)}, { credentials: "omit", headers: { authorization } });
  const spec = await read(answer);
  form.remove();
  SwaggerUIBundle({
    ...${JSON.stringify(uiConfig)},
    spec,
    dom_id: "#swagger-ui",
    requestInterceptor(request) {
      request.headers.Authorization ??= authorization;
      return request;
    },
  });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  problem.textContent = "";
  try {
    await open(await signIn(new URLSearchParams(new FormData(form))));
  } catch (error) {
    problem.textContent = error.message;
  }
  button.disabled = false;
});
`;
