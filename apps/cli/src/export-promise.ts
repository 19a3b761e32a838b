/** What a reader of an export may rely on. */
export function promiseOf({ redact = false }: { redact?: boolean | undefined }): string {
  return redact ? REDACTED : AS_IT_IS
}

const AS_IT_IS =
  'No key and no declared secret is in it. Nothing else is promised: read it before you share it, or use --redact.'
const REDACTED =
  'No key and no declared secret is in it, and what looks like one was replaced, with the home and work directories. Nothing else is promised: read it before you share it.'
