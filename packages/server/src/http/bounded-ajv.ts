import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt, Name } from "ajv";

/** Nobody reads more of them at once, and each costs time and memory. */
export const MOST_PROBLEMS = 100;

/** Ajv's own names in the code that it generates: the number of errors so far, and the errors. */
const ERRORS = new Name("errors");
const FOUND = new Name("vErrors");

/**
 * Bounds the work of an Ajv that reports all errors. Ajv evaluates every keyword then, so that `maxLength` keeps no long
 * text from its `pattern`, and `maxItems` no long list from the check of each item. Here a keyword is passed over where a
 * limit beside it is exceeded: the value is refused for that anyway. And validation stops after `MOST_PROBLEMS`.
 */
export function boundWork<A extends Ajv>(ajv: A): A {
  for (const keyword of ["pattern", "format"]) {
    replace(ajv, keyword, (check) => (cxt, ruleType) => {
      const { maxLength } = cxt.parentSchema;
      // In code units: never fewer than characters, and at most twice as many.
      if (maxLength === undefined) check(cxt, ruleType);
      else cxt.gen.if(_`${cxt.data}.length <= ${2 * maxLength}`, () => check(cxt, ruleType));
    });
  }
  for (const keyword of ["items", "uniqueItems"]) {
    replace(ajv, keyword, (check) => (cxt, ruleType) => {
      const { maxItems } = cxt.parentSchema;
      stopInside(cxt);
      if (maxItems === undefined) check(cxt, ruleType);
      else cxt.gen.if(_`${cxt.data}.length <= ${maxItems}`, () => check(cxt, ruleType));
    });
  }
  for (const keyword of ["propertyNames", "additionalProperties", "patternProperties"]) {
    replace(ajv, keyword, (check) => (cxt, ruleType) => {
      const { maxProperties } = cxt.parentSchema;
      stopInside(cxt);
      if (maxProperties === undefined) check(cxt, ruleType);
      else cxt.gen.if(_`Object.keys(${cxt.data}).length <= ${maxProperties}`, () => check(cxt, ruleType));
    });
  }
  return ajv;
}

type Check = (cxt: KeywordCxt, ruleType?: string) => void;

/** In its place among the others: the first problem of a field is the one that is reported. */
function replace(ajv: Ajv, keyword: string, change: (check: Check) => Check): void {
  const rules = ajv.RULES.rules.find((group) => group.rules.some((rule) => rule.keyword === keyword))?.rules ?? [];
  const next = rules[rules.findIndex((rule) => rule.keyword === keyword) + 1]?.keyword;
  const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
  ajv.removeKeyword(keyword);
  ajv.addKeyword({ ...definition, code: change(definition.code), ...(next ? { before: next } : {}) });
}

/** Each round of the keyword's loop ends the validation once there are enough errors. */
function stopInside(cxt: KeywordCxt): void {
  const { gen, it } = cxt;
  const stop = () =>
    gen.if(_`${ERRORS} >= ${MOST_PROBLEMS}`, () => {
      gen.assign(_`${it.validateName}.errors`, FOUND);
      gen.return(false);
    });
  const subschema = cxt.subschema.bind(cxt);
  const error = cxt.error.bind(cxt);
  cxt.subschema = (...given) => {
    stop();
    return subschema(...given);
  };
  cxt.error = (...given) => {
    error(...given);
    stop();
  };
}
