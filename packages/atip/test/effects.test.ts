import { expect, test } from 'vitest'
import { type AtipEffects, leavesOf } from '../src/index.js'
import { box } from './helpers.js'

function effectsOf({ tool, group, leaf }: { tool?: AtipEffects; group?: AtipEffects; leaf?: AtipEffects }) {
  const command = { description: 'Do it', ...(leaf && { effects: leaf }) }
  const commands = {
    all: { description: 'Group', ...(group && { effects: group }), commands: { it: command } },
  }
  return leavesOf(box(commands, tool ? { effects: tool } : {}))[0]?.effects
}

test('nothing stated is nothing known', () => {
  expect(effectsOf({})).toEqual({})
})

test('what a leaf states wins over its group, and what it leaves out is inherited', () => {
  expect(
    effectsOf({
      group: { destructive: true, network: true, filesystem: { read: true, write: true } },
      leaf: { destructive: false, filesystem: { write: false } },
    }),
  ).toEqual({ destructive: false, network: true, filesystem: { read: true, write: false } })
})

test('against the tool itself the more dangerous statement wins', () => {
  expect(
    effectsOf({
      tool: { destructive: true, network: false, reversible: false, cost: { estimate: 'high' } },
      leaf: {
        destructive: false,
        network: true,
        reversible: true,
        idempotent: true,
        cost: { estimate: 'low', billable: true },
      },
    }),
  ).toEqual({
    destructive: true,
    network: true,
    reversible: false,
    idempotent: true,
    cost: { estimate: 'high', billable: true },
  })
})

test('a tool says what its leaves leave unsaid', () => {
  expect(
    effectsOf({
      tool: { network: false, interactive: { stdin: 'none' } },
      leaf: { interactive: { tty: true } },
    }),
  ).toEqual({
    network: false,
    interactive: { stdin: 'none', tty: true },
  })
})
