/** What has become of the console that this tab was loaded from. */
export type Served = "same" | "updated" | "away";

const entryOf = (page: Document): string | null =>
  page.querySelector<HTMLScriptElement>("script[type=module][src]")?.getAttribute("src") ?? null;

/** Asks the server for its page: the name of the script in it says whether it is of the same build as this tab. */
export async function servedNow(): Promise<Served> {
  try {
    const answer = await fetch("/", { headers: { accept: "text/html" }, cache: "no-store" });
    if (!answer.ok) return "away";
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return entryOf(page) === entryOf(document) ? "same" : "updated";
  } catch {
    return "away";
  }
}
