import { expect, test } from 'vitest'
import { cleanEnvironment, nodeProblem, pathProblem, testEnvironment } from '../lib/environment.mjs'

test('a Node.js below the floor is named together with the floor, and one at or above it is fine', () => {
  expect(
    nodeProblem('20.18.3', '>=20.19'),
  ).toBe(`Delta Engine needs Node.js 20.19 or newer, and this is 20.18.3.
Install a newer one (nvm, fnm, volta, your system's packages) and start again.`)
  expect(nodeProblem('18.20.0', '>=20.19')).toContain('this is 18.20.0')
  expect(nodeProblem('20.19.0', '>=20.19')).toBeUndefined()
  expect(nodeProblem('22.1.0', '>=20.19')).toBeUndefined()
})

test('a path where vitest finds no files is named, and one with blanks, quotes and letters of any language is fine', () => {
  expect(
    pathProblem('/home/a/#1'),
  ).toBe(`The tests cannot run in /home/a/#1: vitest finds no files below a path with #, ? or %.
Move this directory to another path and start again.`)
  expect(pathProblem('/home/a/100%')).toContain('/home/a/100%')
  expect(pathProblem(`/home/é/it's $x "q" (1) [2] {3} & 4!`)).toBeUndefined()
})

test('what npm exports to a script does not reach pnpm, but where packages come from and are kept does', () => {
  const inherited = {
    PATH: '/bin',
    npm_config_omit: 'dev',
    npm_config_global: 'true',
    npm_config_local_prefix: '/elsewhere',
    npm_lifecycle_event: 'test',
    npm_package_name: 'delta-engine',
    npm_execpath: '/elsewhere/npm-cli.js',
    INIT_CWD: '/elsewhere',
    NODE_ENV: 'production',
    GIT_DIR: '/elsewhere/.git',
    npm_config_registry: 'http://127.0.0.1:4873/',
    npm_config_cache: '/caches/npm',
    npm_config_https_proxy: 'http://127.0.0.1:3128/',
    'npm_config_@delta:registry': 'http://127.0.0.1:4873/',
  }
  const { TURBO_TELEMETRY_DISABLED, TURBO_NO_UPDATE_NOTIFIER, DO_NOT_TRACK, ...rest } =
    cleanEnvironment(inherited)
  expect([TURBO_TELEMETRY_DISABLED, TURBO_NO_UPDATE_NOTIFIER, DO_NOT_TRACK]).toEqual(['1', '1', '1'])
  expect(rest).toEqual({
    PATH: '/bin',
    npm_config_registry: 'http://127.0.0.1:4873/',
    npm_config_cache: '/caches/npm',
    npm_config_https_proxy: 'http://127.0.0.1:3128/',
    'npm_config_@delta:registry': 'http://127.0.0.1:4873/',
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
  })
})

test('tests see no key and no setting of the person who runs them', () => {
  const environment = testEnvironment({
    PATH: '/bin',
    OPENAI_API_KEY: 'sk-1',
    DELTA_API_KEY: 'sk-2',
    DELTA_NEW: '1',
  })
  expect(Object.keys(environment).filter((name) => /DELTA|OPENAI/.test(name))).toEqual([])
  expect(environment.PATH).toBe('/bin')
})
