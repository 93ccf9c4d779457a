import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";

describeInBrowser("the documentation of the API in staging", (visit) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      env: {
        BINNACLE_ROLES: "api",
        BINNACLE_ENVIRONMENT: "staging",
        BINNACLE_ADMIN_EMAIL: "root@example.com",
        BINNACLE_ADMIN_PASSWORD: "correct horse battery staple",
        BINNACLE_ALLOW_INSECURE_PUBLIC_URL: "true",
      },
    });
  });
  afterAll(() => world.stop());

  test("[OA53] the documentation of the API opens for a superuser who signs in on its page, and keeps nothing in the browser", async () => {
    const person = await world.person();
    const { page, context, problems, goTo } = await visit({ url: world.url });
    await goTo("/docs");
    const signIn = async (username: string, password: string) => {
      await page.getByLabel("Username or email").fill(username);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Sign in" }).click();
    };
    await signIn("root@example.com", "wrong");
    await page.getByText("Wrong username, email or password.").waitFor();
    await signIn(person.username, person.password);
    await page.getByText("Only superusers who have signed in may read this.").waitFor();
    expect(await page.locator(".opblock-tag").count()).toBe(0);

    await signIn("root@example.com", "correct horse battery staple");
    // Swagger UI keeps the browser busy with a document of this size.
    page.setDefaultTimeout(120_000);
    await page.locator("#operations-tag-Clusters").waitFor();
    await page.locator("#operations-tag-Control_plane").click();
    await page.locator('[data-path="/version"]').waitFor();

    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")).toBe(
      '[{},{},""]',
    );
    expect(await context.cookies()).toEqual([]);
    expect(problems).toEqual([]);
  }, 240_000);
});
