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

test('of a tool and its leaf the more dangerous statement wins, whichever of them makes it', () => {
  const dangerous: AtipEffects = {
    destructive: true,
    network: true,
    subprocess: true,
    reversible: false,
    idempotent: false,
    filesystem: { read: true, write: true, delete: true },
    interactive: { prompts: true, tty: true, stdin: 'password' },
    cost: { billable: true, estimate: 'high' },
  }
  const harmless: AtipEffects = {
    destructive: false,
    network: false,
    subprocess: false,
    reversible: true,
    idempotent: true,
    filesystem: { read: false, write: false, delete: false },
    interactive: { prompts: false, tty: false, stdin: 'required' },
    cost: { billable: false, estimate: 'low' },
  }
  expect(effectsOf({ tool: dangerous, leaf: harmless })).toEqual(dangerous)
  expect(effectsOf({ tool: harmless, leaf: dangerous })).toEqual(dangerous)
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
