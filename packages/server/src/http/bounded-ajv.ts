import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt, Name } from "ajv";

/** More problems help nobody, and each costs time and memory. */
export const MOST_PROBLEMS = 100;

/** Names in the code that Ajv generates: the number of errors so far, and the errors. */
const ERRORS = new Name("errors");
const FOUND = new Name("vErrors");

/**
 * Bounds the work of an Ajv that reports all errors. Ajv then evaluates every keyword: `maxLength` does not protect
 * `pattern` from a long text, nor `maxItems` the check of each item. Here a keyword is skipped if a limit beside it is
 * exceeded, because the value is refused anyway. Validation stops after `MOST_PROBLEMS`.
 */
export function boundWork<A extends Ajv>(ajv: A): A {
  for (const keyword of ["pattern", "format"]) {
    replace(ajv, keyword, (check) => (cxt, ruleType) => {
      const { maxLength } = cxt.parentSchema;
      // The length in code units is at least the number of characters and at most twice that.
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

/** The keyword keeps its position, because the first problem of a field is the one that is reported. */
function replace(ajv: Ajv, keyword: string, change: (check: Check) => Check): void {
  const rules = ajv.RULES.rules.find((group) => group.rules.some((rule) => rule.keyword === keyword))?.rules ?? [];
  const next = rules[rules.findIndex((rule) => rule.keyword === keyword) + 1]?.keyword;
  const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
  ajv.removeKeyword(keyword);
  ajv.addKeyword({ ...definition, code: change(definition.code), ...(next ? { before: next } : {}) });
}

/** Ends the loop of the keyword once there are enough errors. */
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
