import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ask,
  type DeviceLogin,
  deviceLogin,
  displacedBy,
  FIRST_INTERVAL_SECONDS,
  isUndecided,
  LIFETIME_SECONDS,
  type LoginRequest,
  newUserCode,
  normaliseUserCode,
  wirePendingDevice,
} from "./device-login.ts";

const START = Date.UTC(2030, 0, 1);
const at = (seconds: number) => new Date(START + seconds * 1000);
const WANTED: LoginRequest = {
  clientName: "laptop",
  kind: "token",
  scopes: ["clusters:read"],
  orgId: null,
  projectId: null,
  sourceAddress: "203.0.113.7",
};
const pending = deviceLogin("an id", "BCDF-GHJK", WANTED, at(0));
const approved: DeviceLogin = { ...pending, status: "approved", user_id: "a user" };

describe("a pending device", () => {
  test("[CT33] a pending device is shown with its name, scopes, source address, age and remaining seconds", () => {
    expect(wirePendingDevice(pending, null, at(59.5))).toEqual({
      user_code: "BCDF-GHJK",
      client_name: "laptop",
      kind: "token",
      scopes: ["clusters:read"],
      org_id: null,
      org_name: null,
      project_id: null,
      project_name: null,
      source_address: "203.0.113.7",
      created_at: at(0).toISOString(),
      age_seconds: 59,
      expires_in: LIFETIME_SECONDS - 59,
    });
  });
});

describe("what a device asks for", () => {
  test("[CT39] a device that asks for a session gets no scopes, whatever it requested", () => {
    const { kind, scopes } = deviceLogin("an id", "BCDF-GHJK", { ...WANTED, kind: "session" }, at(0));
    expect({ kind, scopes }).toEqual({ kind: "session", scopes: [] });
  });

  test("[CT33] the pending device of a bound token shows the id of the project, and its name or null", () => {
    const bound = deviceLogin("an id", "BCDF-GHJK", { ...WANTED, projectId: "a project" }, at(0));
    const shown = { org_id: null, org_name: null, project_id: "a project" };
    expect(wirePendingDevice(bound, "shop", at(0))).toMatchObject({ ...shown, project_name: "shop" });
    expect(wirePendingDevice(bound, null, at(0))).toMatchObject({ ...shown, project_name: null });
  });
});

describe("a user code", () => {
  test("[CT21] a user code is eight consonants in two groups", () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(255)), (bytes) => {
        const code = newUserCode((size) => Uint8Array.from(bytes.take(size)));
        expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      }),
    );
  });

  test("[CT21] a user code has every letter equally often if the random bytes are evenly distributed", () => {
    const bytes = Array.from({ length: 256 }, (_, byte) => byte);
    const letters: string[] = [];
    // 240 bytes count, 12 for each of the 20 letters; the codes of 8 use them up exactly.
    for (let drawn = 0; drawn < 30; drawn++) {
      const code = newUserCode((size) => Uint8Array.from(bytes.splice(0, size)));
      letters.push(...code.replace("-", "").split(""));
    }
    const counts = Object.values(Object.groupBy(letters, (letter) => letter)).map((same) => same?.length);
    expect(counts).toEqual(Array.from({ length: 20 }, () => 12));
  });

  test("[CT21] a user code skips the random bytes that would make some letters likelier", () => {
    const bytes = [255, 240, 0, 1, 2, 3, 254, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    expect(newUserCode((size) => Uint8Array.from(bytes.splice(0, size)))).toBe("BCDF-GHJK");
  });

  test.each(["BCDF-GHJK", "bcdfghjk", " bcdf ghjk ", "B-C-D-F-G-H-J-K"])(
    "[CT21] a user code may be typed as %j",
    (typed) => {
      expect(normaliseUserCode(typed)).toBe("BCDF-GHJK");
    },
  );
});

describe("a device that asks", () => {
  test("[CT20] a device login begins undecided, lasts ten minutes and has a polling interval of five seconds", () => {
    expect([LIFETIME_SECONDS, FIRST_INTERVAL_SECONDS]).toEqual([600, 5]);
    expect(pending).toMatchObject({ status: "pending", user_id: null, interval_seconds: 5, expires_at: at(600) });
    expect(isUndecided(pending, at(599.999))).toBe(true);
    expect(isUndecided(pending, at(600))).toBe(false);
    expect(isUndecided(approved, at(0))).toBe(false);
  });

  test("[CT23] a device gets authorization_pending while nobody has decided, on its first poll at any moment", () => {
    expect(ask(pending, at(0))).toEqual({
      outcome: "authorization_pending",
      next: { ...pending, last_asked_at: at(0) },
    });
    expect(ask({ ...pending, last_asked_at: at(0) }, at(5)).outcome).toBe("authorization_pending");
  });

  test("[CT24] a device that polls too soon gets slow_down, and its interval grows by five seconds each time", () => {
    const first = ask({ ...pending, last_asked_at: at(0) }, at(4.999));
    expect(first).toMatchObject({ outcome: "slow_down", next: { interval_seconds: 10, last_asked_at: at(4.999) } });
    const second = ask(first.next, at(14.998));
    expect(second).toMatchObject({ outcome: "slow_down", next: { interval_seconds: 15 } });
    expect(ask(second.next, at(29.998)).outcome).toBe("authorization_pending");
  });

  test("[CT24] a device that polls too soon gets slow_down also after it has been approved", () => {
    expect(ask({ ...approved, last_asked_at: at(0) }, at(1)).outcome).toBe("slow_down");
  });

  test("[CT25] a device that was denied gets access_denied, also when it polls too soon", () => {
    const denied: DeviceLogin = { ...pending, status: "denied", user_id: "a user", last_asked_at: at(0) };
    expect(ask(denied, at(1)).outcome).toBe("access_denied");
  });

  test("[CT26] a device gets expired_token after ten minutes, whatever was decided", () => {
    expect(ask(pending, at(600)).outcome).toBe("expired_token");
    expect(ask(approved, at(600)).outcome).toBe("expired_token");
  });

  test("[CT27] an approved device gets a token for the user who approved it, and only once", () => {
    const answer = ask(approved, at(30));
    expect(answer).toMatchObject({ outcome: "approved", userId: "a user", next: { status: "claimed" } });
    expect(ask(answer.next, at(60)).outcome).toBe("expired_token");
  });
});

test("[CT396] whatever others begin and poll, a device login that polls in time keeps its place, and there are never more than 50", () => {
  const step = fc.record({
    starts: fc.nat(60),
    polled: fc.array(fc.nat(60), { maxLength: 60 }),
    pause: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let open = [pending];
      let second = 0;
      for (const { starts, polled, pause } of steps) {
        second += pause;
        const isPolled = (login: DeviceLogin, index: number) => login.id === pending.id || polled.includes(index);
        open = open.map((login, index) => (isPolled(login, index) ? ask(login, at(second)).next : login));
        for (let count = 0; count < starts; count++) {
          try {
            const displaced = displacedBy(open, at(second));
            open = [
              ...open.filter((login) => login.id !== displaced?.id),
              deviceLogin(`${second} ${count}`, "", WANTED, at(second)),
            ];
          } catch (error) {
            expect(error).toMatchObject({ kind: "rate_limited" });
          }
        }
        expect(open.length).toBeLessThanOrEqual(50);
        expect(open.map(({ id }) => id)).toContain(pending.id);
      }
    }),
    { numRuns: 30 },
  );
});
