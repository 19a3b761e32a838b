import { fitShape, formatPath } from '@delta/settings'
import * as z from 'zod/mini'

const schema = z.strictObject({
  name: z.string(),
  retries: z.optional(z.int()),
  on_failure: z.optional(z.strictObject({ command: z.array(z.string()) })),
})

const written = { retires: 3, on_failure: 'mail -s failed ops' } // as a YAML parser gives it

for (const { path, message, hint } of fitShape(schema, written).problems)
  console.log(`${formatPath(path) || 'job.yaml'}: ${message}. ${hint}`)
