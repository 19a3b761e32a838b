import { expect, test } from 'vitest'
import { loadCommand } from '../src/load-command.js'
import { COMMAND_TABLE } from '../src/table/index.js'

const names = COMMAND_TABLE.flatMap(({ commands }) => commands).map(({ name }) => name)

test.each(names)('delta %s has its code', async (name) => {
  expect(await loadCommand(name)).toHaveProperty('execute', expect.any(Function))
})
