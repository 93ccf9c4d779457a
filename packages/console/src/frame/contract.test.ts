import { expect, test } from "vitest";
import { contractNotice, NEEDED_CONTRACT } from "./contract.ts";

test("[WC199] the console says that the server's contract is older than it needs, and that the server was upgraded", () => {
  expect(contractNotice(NEEDED_CONTRACT, NEEDED_CONTRACT)).toBeNull();
  expect(contractNotice(NEEDED_CONTRACT + 1, NEEDED_CONTRACT + 1)).toBeNull();
  expect(contractNotice(null, null)).toBeNull();
  expect(contractNotice(2, 2)).toMatch(/needs contract 3 or newer, and the server has 2/);
  expect(contractNotice(NEEDED_CONTRACT, NEEDED_CONTRACT + 1)).toMatch(/^Binnacle was upgraded\. Reload/);
});
