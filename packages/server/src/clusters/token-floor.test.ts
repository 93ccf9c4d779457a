import { describe, expect, test } from "vitest";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import { FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { prepareFloorConfirmation } from "./agent-token.adapter.ts";

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

describe("the question whether a floor is held", () => {
  test("[CL38] the floor of a cluster is in_force when the hub that holds the session answers", async () => {
    const bus = createMemoryBus(silent);
    const heard: unknown[] = [];
    bus.subscribe(FLOOR_RAISED_TOPIC, (message) => {
      heard.push(message);
      bus.publish(FLOOR_HELD_TOPIC, { ask: (message as { ask: string }).ask });
    });
    const question = prepareFloorConfirmation(bus);
    expect(await question.ask("c", 3)).toBe("in_force");
    expect(heard).toMatchObject([{ cluster_id: "c", floor: 3 }]);
    question.drop();
    await bus.close();
  });

  test("[CL38] the floor of a cluster is pending when nobody answers, or only to another question", async () => {
    const bus = createMemoryBus(silent);
    bus.subscribe(FLOOR_RAISED_TOPIC, () => bus.publish(FLOOR_HELD_TOPIC, { ask: "another" }));
    const question = prepareFloorConfirmation(bus, 20);
    expect(await question.ask("c", 3)).toBe("pending");
    question.drop();
    await bus.close();
  });

  test("[CL38] a question about the floor that is dropped ends as pending", async () => {
    const bus = createMemoryBus(silent);
    const question = prepareFloorConfirmation(bus);
    const answer = question.ask("c", 3);
    question.drop();
    expect(await answer).toBe("pending");
    await bus.close();
  });
});
