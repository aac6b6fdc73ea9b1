import { tokensOfBytes, utf8Bytes } from "./json.ts"
import { findClearedCallIDs, PLACEHOLDER, type ModelRequest } from "./model-request.ts"
import { storedOutput, type StoredMessage } from "./stored.ts"

/** What the request would have cost with every stored output in place of its placeholder. */
export function unclearedTokens(request: ModelRequest, stored: readonly StoredMessage[]): number {
  const sizes = findClearedCallIDs(request).map((callID) => jsonBytes(storedOutput(stored, callID)))
  const added = sizes.reduce((sum, bytes) => sum + bytes - jsonBytes(PLACEHOLDER), 0)
  return request.tokens + tokensOfBytes(added)
}

/** As JSON, since that is what a request is made of. */
const jsonBytes = (output: string): number => utf8Bytes(JSON.stringify(output))
