/**
 * What the provider last counted for a request of this run, and how many bytes that request's body had.
 * One true count turns a rule of thumb into an estimate for this model, this language and this kind of text.
 */
export interface Calibration {
  tokens: number
  bytes: number
}

const USUAL_BYTES_PER_TOKEN = 4
/** Beyond these a count says more about the provider's bookkeeping than about the text. */
const FEWEST = 1.5
const MOST = 8

/** Estimates the tokens of so many bytes of UTF-8, by the last true count if there is one, else four bytes each. */
export function estimateTokens(bytes: number, calibration?: Calibration): number {
  return Math.ceil(bytes / bytesPerToken(calibration))
}

/** How many bytes of UTF-8 make a token, by the last true count if there is one, else four. */
export function bytesPerToken(calibration?: Calibration): number {
  if (calibration === undefined || calibration.tokens <= 0 || calibration.bytes <= 0)
    return USUAL_BYTES_PER_TOKEN
  return Math.min(MOST, Math.max(FEWEST, calibration.bytes / calibration.tokens))
}
