import { isRecord } from "./plain.ts"
import type { Policy, ProjectOptions } from "./types.ts"

const integerFrom =
  (least: number) =>
  (value: unknown): boolean =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least

const isRatio = (value: unknown): boolean => typeof value === "number" && value > 0 && value <= 1
const isShare = (value: unknown): boolean => typeof value === "number" && value >= 0 && value < 1
const isNameList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name: unknown) => typeof name === "string")

const isBoolean = (value: unknown): boolean => typeof value === "boolean"

const isAbsentOr =
  (accepts: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || accepts(value)

type FieldRule = { field: keyof Policy; expected: string; accepts: (value: unknown) => boolean }

const POLICY_RULES: readonly FieldRule[] = [
  { field: "protectRecentSteps", expected: "an integer from 1", accepts: integerFrom(1) },
  { field: "protectRecentTokens", expected: "an integer from 0", accepts: integerFrom(0) },
  { field: "targetRatio", expected: "a number above 0, at most 1", accepts: isRatio },
  { field: "minimumSavingsTokens", expected: "an integer from 1", accepts: integerFrom(1) },
  { field: "protectedTools", expected: "a list of tool names", accepts: isNameList },
  { field: "stablePrefix", expected: "true or false", accepts: isAbsentOr(isBoolean) },
  { field: "clearAtLeastRatio", expected: "a number from 0, below 1", accepts: isAbsentOr(isShare) },
  { field: "estimateMedia", expected: "true or false", accepts: isAbsentOr(isBoolean) },
  { field: "calibrate", expected: "true or false", accepts: isAbsentOr(isBoolean) },
]

/** Throws a `TypeError` that names the field when the policy or `now` is invalid. The budget is judged elsewhere. */
export function assertOptions(options: ProjectOptions): void {
  assertField(isRecord(options), "options", "an object")
  assertField(isRecord(options.policy), "policy", "an object")
  const { policy, now } = options
  for (const { field, accepts, expected } of POLICY_RULES) {
    assertField(accepts(policy[field]), `policy.${field}`, expected)
  }
  assertField(now === undefined || integerFrom(1)(now), "now", "a positive safe integer")
}

function assertField(valid: boolean, field: string, expected: string): void {
  if (!valid) throw new TypeError(`Expected \`${field}\` to be ${expected}`)
}
