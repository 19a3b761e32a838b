import { Document, visit } from 'yaml'

/** A string of several lines that blocks do not keep as it is: it begins with white space, or a line ends with it. */
const NOT_FOR_BLOCKS = /^\s|[^\S\n](?:\n|$)/

/** YAML for a result, also for readers of YAML 1.1, where `yes` is a boolean. */
export function asYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Scalar(_key, scalar) {
      if (
        typeof scalar.value === 'string' &&
        scalar.value.includes('\n') &&
        NOT_FOR_BLOCKS.test(scalar.value)
      )
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY })
}
