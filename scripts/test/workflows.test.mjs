import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { manifest, nodeProblem, root } from '../lib/environment.mjs'

/**
 * @typedef {{ uses?: string, run?: string, with?: Record<string, string>, env?: Record<string, string> }} Step
 * @typedef {{ permissions?: object, strategy?: { matrix: { node: string[] } }, steps: Step[] }} Job
 * @typedef {{ permissions: object, concurrency: object, jobs: Record<string, Job> }} Workflow
 */

const directory = join(root, '.github', 'workflows')

/** @param {string} name @returns {Workflow} */
function read(name) {
  return parse(readFileSync(join(directory, name), 'utf8'))
}

/** @param {Workflow} workflow */
function steps(workflow) {
  return Object.values(workflow.jobs).flatMap((job) => job.steps)
}

test('continuous integration runs everything, on the oldest Node.js we promise and on each line that is maintained', () => {
  const { jobs } = read('ci.yml')
  const versions = jobs.check?.strategy?.matrix.node ?? []
  expect(`>=${versions[0]}`).toBe(manifest.engines.node)
  expect(versions.map((version) => version.split('.')[0])).toEqual(['20', '22', '24'])
  for (const version of versions)
    expect(nodeProblem(`${version}.${version.includes('.') ? 0 : '99.0'}`)).toBeUndefined()
  expect(jobs.check?.steps.map((step) => step.run).filter(Boolean)).toEqual(['.ci/run'])
})

test('every package of ours promises the same Node.js as the root', () => {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(root, parent, name, 'package.json')),
  )
  for (const path of folders.filter(existsSync)) {
    expect(JSON.parse(readFileSync(path, 'utf8')).engines, path).toEqual(manifest.engines)
  }
})

test('workflows may only read unless a job says why not, and every action is pinned to a major version', () => {
  for (const name of readdirSync(directory)) {
    const workflow = read(name)
    expect(workflow.permissions, name).toEqual({ contents: 'read' })
    expect(workflow.concurrency, name).toHaveProperty('group')
    const actions = steps(workflow).flatMap((step) => step.uses ?? [])
    expect(actions.filter((action) => !/^[\w-]+\/[\w-]+@v\d+$/.test(action))).toEqual([])
  }
})

test('only a job that may prove where it runs publishes, after everything has passed', () => {
  const { jobs } = read('release.yml')
  expect(jobs.release?.permissions).toMatchObject({ 'id-token': 'write' })
  const order = jobs.release?.steps.map((step) => step.run ?? step.uses?.split('@')[0])
  expect(order?.slice(-2)).toEqual(['.ci/run', 'changesets/action'])
  const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts
  const { version, publish } = jobs.release?.steps.at(-1)?.with ?? {}
  for (const command of [version, publish]) expect(scripts).toHaveProperty(command?.split(' ')[1] ?? '')
})

test('new versions of what we bundle and of what continuous integration uses are looked for every week', () => {
  const { updates } = parse(readFileSync(join(root, '.github', 'dependabot.yml'), 'utf8'))
  const weekly = { directory: '/', schedule: { interval: 'weekly' } }
  expect(updates).toMatchObject([
    { 'package-ecosystem': 'npm', ...weekly },
    { 'package-ecosystem': 'github-actions', ...weekly },
  ])
})
