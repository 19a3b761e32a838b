/**
 * A call's arguments as they may be sent back.
 *
 * Models now and then write arguments that are no JSON object. They got an observation that says so; but servers
 * that parse the history refuse the whole request for ever after. What was written is then sent as a text inside
 * an object. Well-formed arguments are sent back byte for byte.
 */
export function readableArguments(text: string): string {
  if (text.trim() === '') return '{}'
  return isJsonObject(text) ? text : JSON.stringify({ malformed_arguments: text })
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false // the very thing that is being asked
  }
}
