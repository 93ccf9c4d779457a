import fc from "fast-check";
import { expect, test } from "vitest";
import {
  difference,
  fieldsNamed,
  fromFieldsV1,
  intersection,
  isEmpty,
  placesIn,
  placeText,
  toFieldsV1,
  union,
  within,
  without,
} from "./field-set.ts";

const paths = fc.array(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }), { maxLength: 8 });
const sets = paths.map((all) => fieldsNamed(...all));

test("[SA30] a field set is the same after it was written to `fieldsV1` and read back", () => {
  fc.assert(
    fc.property(sets, (set) => {
      expect(toFieldsV1(fromFieldsV1(toFieldsV1(set)))).toEqual(toFieldsV1(set));
      expect(placesIn(fromFieldsV1(toFieldsV1(set)))).toEqual(placesIn(set));
    }),
  );
});

test("[SA30] the union, intersection and difference of field sets follow the laws of sets", () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      const [both, rest] = [intersection(a, b), difference(a, b)];
      expect(toFieldsV1(union(both, rest))).toEqual(toFieldsV1(a));
      expect(isEmpty(intersection(rest, b))).toBe(true);
      expect(toFieldsV1(union(a, b))).toEqual(toFieldsV1(union(b, a)));
      expect(toFieldsV1(union(a, a))).toEqual(toFieldsV1(a));
    }),
  );
});

test("[SA30] the fields below a path are within it, and the remaining fields are not", () => {
  fc.assert(
    fc.property(sets, (set) => {
      const a = fieldsNamed(["a"]);
      expect(toFieldsV1(union(within(set, a), without(set, a)))).toEqual(toFieldsV1(set));
      expect(placesIn(without(set, a)).every(([first]) => first !== "f:a")).toBe(true);
    }),
  );
});

test("[SA30] a field path is written as Kubernetes writes it", () => {
  expect(placeText(["f:spec", 'k:{"name":"web","port":80}', "f:image"])).toBe('.spec[name="web",port=80].image');
  expect(placeText(["f:metadata", "f:finalizers", 'v:"x"'])).toBe('.metadata.finalizers[="x"]');
});
