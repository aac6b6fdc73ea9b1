import { policyFor } from "../config/policy.ts"
import type { Config, Limit } from "../config/types.ts"
import type { Model } from "../dtc/types.ts"
import { findInputBudget } from "../request.ts"
import { InputFault, UsageFault } from "./faults.ts"
import type { LimitSource } from "./types.ts"

/** Reads `CONTEXT,OUTPUT` or `CONTEXT,INPUT,OUTPUT`, in tokens. */
export function readLimit(text: string): Limit {
  const numbers = text.split(",").map(readTokens)
  const [context, second, third] = numbers
  if (context !== undefined && second !== undefined && third !== undefined && numbers.length === 3)
    return { context, input: second, output: third }
  if (context !== undefined && second !== undefined && numbers.length === 2) return { context, output: second }
  throw new UsageFault(`--limit takes CONTEXT,OUTPUT or CONTEXT,INPUT,OUTPUT in tokens, such as 200000,32000`)
}

export interface KnownLimit {
  limit: Limit
  source: LimitSource
  /** Tokens that the model accepts as input. */
  inputBudget: number
}

/** The command line's limits, else the configuration's for the session's model. An export states none. */
export function findLimit(
  given: Limit | undefined,
  config: Config,
  model: Model | undefined,
  outputTokenMax: number,
): KnownLimit {
  const configured = model && policyFor(config, model).limit
  const limit = given ?? configured
  const name = model ? `${model.providerID}/${model.modelID}` : "this session's model"
  if (!limit)
    throw new InputFault(
      `no token limits for ${name}: give --limit CONTEXT,OUTPUT, or models["${name}"].limit in dcp.jsonc`,
    )
  const inputBudget = findInputBudget(limit, outputTokenMax)
  if (inputBudget === undefined) throw new InputFault(`the limits of ${name} leave nothing for input`)
  return { limit, source: given ? "--limit" : "configuration", inputBudget }
}

function readTokens(text: string): number | undefined {
  return /^\s*[1-9]\d{0,14}\s*$/.test(text) ? Number(text) : undefined
}
