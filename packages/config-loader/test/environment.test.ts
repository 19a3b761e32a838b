import { createHash } from 'node:crypto'
import { chown, lchown, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type EnvironmentOptions,
  isConfigError,
  loadEnvironment,
  type WorkspaceEndpoint,
} from '../src/index.js'
import { directoryOf, type Files } from './agents.js'

/** A project: `.git` and `.env` at its root, an agent in `agent/`, a workspace in `work/`. */
async function project(files: Files, options: Partial<EnvironmentOptions> = {}) {
  const root = await directoryOf({ '.git/HEAD': '', 'agent/agent.yaml': '', 'work/keep': '', ...files })
  const places = { workDirectory: join(root, 'work'), agentHome: join(root, 'agent') }
  return { root, load: (more = {}) => loadEnvironment({ ...places, env: {}, ...options, ...more }) }
}

async function refusal(files: Files, options: Partial<EnvironmentOptions> = {}): Promise<string> {
  const { root, load } = await project(files, options)
  const error = await load().catch((error: unknown) => error)
  if (!isConfigError(error)) throw new Error(`accepted: ${JSON.stringify(error)}`)
  return error.message.replaceAll(root, 'project')
}

const NOTHING = { others: [], exported: {}, origins: [], warnings: [] }

const KEYS = {
  'work/.env': 'DELTA_API_KEY=work\n',
  'agent/.env': 'DELTA_API_KEY=agent\n',
  '.env': 'DELTA_API_KEY=root\n',
}
const URLS = ['OPENAI_API_URL=http://a', 'OPENAI_BASE_URL=http://b', 'DELTA_BASE_URL=http://c']
const ENV = { DELTA_API_KEY: 'environment', DELTA_BASE_URL: 'https://environment.example.com' }
const llmBaseUrl = 'https://agent.example.com/v1'

test.each<[string, Files, Partial<EnvironmentOptions>, object]>([
  ['the workspace', KEYS, {}, { apiKey: 'work' }],
  ['then the agent', { ...KEYS, 'work/.env': '' }, {}, { apiKey: 'agent' }],
  ['then the project root', { '.env': KEYS['.env'] }, {}, { apiKey: 'root' }],
  ['then the environment', {}, {}, { apiKey: 'environment' }],
  [
    'the order of the files before that of the names',
    { 'agent/.env': 'OPENAI_API_KEY=near\n', '.env': 'DELTA_API_KEY=far\n' },
    {},
    { apiKey: 'near' },
  ],
  [
    'within a file DELTA_ before OPENAI_',
    { 'agent/.env': `OPENAI_API_KEY=o\nDELTA_API_KEY=d\n${URLS.join('\n')}\n` },
    {},
    { apiKey: 'd', baseUrl: 'http://c' },
  ],
  ['then OPENAI_BASE_URL', { 'agent/.env': URLS.slice(0, 2).join('\n') }, {}, { baseUrl: 'http://b' }],
  ['and OPENAI_API_URL last', { 'agent/.env': URLS[0] }, {}, { baseUrl: 'http://a' }],
  [
    'a value before an empty one',
    { 'agent/.env': 'DELTA_API_KEY=\n', '.env': KEYS['.env'] },
    {},
    { apiKey: 'root' },
  ],
  ['llm.base_url before the environment', {}, { llmBaseUrl }, { baseUrl: llmBaseUrl }],
  [
    'and after the .env of the agent',
    { 'agent/.env': 'DELTA_BASE_URL=http://other\n' },
    { llmBaseUrl },
    { baseUrl: 'http://other' },
  ],
  [
    'quotes, comments, export, spaces, BOM and Windows line ends as such files mean them',
    {
      'agent/.env':
        '\uFEFF# key\r\nexport DELTA_API_KEY = "sk #1=="   # mine\r\nDELTA_BASE_URL=\'http://x/#a\'\r\n',
    },
    {},
    { apiKey: 'sk #1==', baseUrl: 'http://x/#a' },
  ],
])('what counts: %s', async (_, files, options, expected) => {
  const { load } = await project(files, { env: ENV, ...options })
  expect(await load()).toMatchObject(expected)
})

test('the origins say where each value came from, and never the value', async () => {
  const { root, load } = await project({ 'agent/.env': 'OPENAI_API_KEY=secret\n' }, { llmBaseUrl })
  expect(await load()).toEqual({
    apiKey: 'secret',
    baseUrl: llmBaseUrl,
    others: [],
    exported: {},
    origins: [
      { name: 'OPENAI_API_KEY', from: join(root, 'agent/.env') },
      { name: 'llm.base_url', from: join(root, 'agent/agent.yaml') },
    ],
    warnings: [],
  })
})

test('the project root is looked for above the agent, not above the workspace', async () => {
  const elsewhere = await directoryOf({
    '.git/HEAD': '',
    '.env': 'DELTA_API_KEY=elsewhere\n',
    'work/keep': '',
  })
  const { load } = await project(
    { '.env': 'DELTA_API_KEY=root\n' },
    { workDirectory: join(elsewhere, 'work') },
  )
  expect((await load()).apiKey).toBe('root')
})

test('other names in an .env file have no effect', async () => {
  const before = { ...process.env }
  const { load } = await project({
    'agent/.env': 'PATH=/evil\nNODE_OPTIONS=--inspect\nDELTA_IMPORT_ROOTS=/\n',
  })
  expect(await load()).toEqual(NOTHING)
  expect(process.env).toEqual(before)
})

// The agent's own tools can write to the workspace, and so could the author of what was cloned there.

test.each([
  ['of somebody', 'DELTA_BASE_URL=https://evil.example.com/v1?token=t\n', 'https://evil.example.com/v1'],
  ['on this machine', 'DELTA_BASE_URL=http://127.0.0.1:8080\n', 'http://127.0.0.1:8080/'],
  ['with its key beside it', 'DELTA_BASE_URL=http://[::1]:1\nDELTA_API_KEY=mine\n', 'http://[::1]:1/'],
])(
  "an endpoint %s in the workspace's .env is refused, with file, line, endpoint and option",
  async (_, text, url) => {
    for (const name of ['DELTA_BASE_URL', 'OPENAI_BASE_URL', 'OPENAI_API_URL']) {
      const files = { 'work/.env': `# mine\n${text.replace('DELTA_BASE_URL', name)}` }
      expect(await refusal(files, { env: { OPENAI_API_KEY: 'sk' } })).toBe(
        `project/work/.env:2:1: The endpoint ${url} (${name}) is not used, because anyone who can write to the workspace can set it.
Move the line to the agent's .env, or trust this file.`,
      )
    }
  },
)

test("where the workspace is the project, the .env there is the workspace's; where it is the agent's directory, the agent's", async () => {
  const files = { '.env': 'DELTA_BASE_URL=http://localhost:1/v1\n' }
  const { root, load } = await project(files)
  await expect(load()).rejects.toThrow('because anyone who can write to the project can set it.')
  const link = join(root, 'link')
  await symlink(root, link)
  for (const workDirectory of [root, link])
    await expect(load({ workDirectory })).rejects.toThrow(
      /\.env:1:1: The endpoint .* because anyone who can write to the workspace can set it/,
    )
  const own = await project({ 'agent/.env': files['.env'] })
  expect(await own.load({ workDirectory: join(own.root, 'agent') })).toMatchObject({
    baseUrl: 'http://localhost:1/v1',
    warnings: [],
  })
})

test('trustWorkspaceEnv is asked about the endpoint and the digest of the file, which is kept if it is trusted', async () => {
  const text = '# mine\nexport OPENAI_API_URL=http://localhost:1/v1?token=t\n'
  const { root, load } = await project({ 'work/.env': text })
  const asked: WorkspaceEndpoint[] = []
  const trustWorkspaceEnv = async (endpoint: WorkspaceEndpoint) => asked.push(endpoint) > 1
  await expect(load({ trustWorkspaceEnv })).rejects.toMatchObject({ code: 'ERR_CONFIG_ENVIRONMENT' })
  const digest = createHash('sha256').update(text).digest('hex')
  expect(await load({ trustWorkspaceEnv })).toMatchObject({
    baseUrl: 'http://localhost:1/v1?token=t',
    workspaceEnvDigest: digest,
  })
  const about = { name: 'OPENAI_API_URL', shownUrl: 'http://localhost:1/v1', digest }
  expect(asked[1]).toEqual({ of: 'workspace', file: join(root, 'work/.env'), line: 2, ...about })
  expect(await load({ trustWorkspaceEnv: true })).toMatchObject({ workspaceEnvDigest: digest })
})

test("K2, K3: an endpoint in the project's .env is refused wherever the workspace lies, and none of it reaches a command", async () => {
  const url = 'http://evil.example/v1'
  const files = { '.env': `OPENAI_BASE_URL=${url}\n` }
  const options = { env: { OPENAI_API_KEY: 'sk' } }
  const { root, load } = await project(files, options)
  for (const workDirectory of [join(root, 'work'), join(root, 'agent/inner'), '/elsewhere'])
    await expect(load({ workDirectory })).rejects.toThrow(
      `.env:1:1: The endpoint ${url} (OPENAI_BASE_URL) is not used, because anyone who can write to the project`,
    )
  const anthropic = { provider: 'anthropic' } as const
  expect(await load({ llm: anthropic })).toMatchObject({ others: [] })
  expect(await load({ trustWorkspaceEnv: true })).toMatchObject({ apiKey: 'sk', baseUrl: url })
})

test('a .git and an .env that a tool puts above an agent do not choose its endpoint', async () => {
  const { root, load } = await project(
    { 'agent/hi/agent.yaml': '', 'agent/.git': '', 'agent/.env': 'DELTA_BASE_URL=http://evil.example\n' },
    { env: { OPENAI_API_KEY: 'sk' } },
  )
  await expect(load({ agentHome: join(root, 'agent/hi') })).rejects.toThrow(
    'agent/.env:1:1: The endpoint http://evil.example/ (DELTA_BASE_URL) is not used',
  )
})

test.runIf(process.geteuid?.() === 0)(
  "K9: a project's .env of another user does not count, nor does a link of theirs to one's own, and a warning says so",
  async () => {
    const { root, load } = await project({ '.env': 'DELTA_API_KEY=k\nDELTA_BASE_URL=http://evil.example\n' })
    const file = join(root, '.env')
    const expected = { ...NOTHING, warnings: [{ file, message: expect.any(String) }] }
    await chown(file, 65534, 65534)
    expect(await load({ trustWorkspaceEnv: true })).toMatchObject(expected)
    expect((await load()).warnings[0]?.message).toBe('Not used: it belongs to another user (65534).')
    await rm(file)
    await symlink(join(root, 'work/keep'), file)
    expect((await load()).warnings).toEqual([])
    await lchown(file, 65534, 65534)
    expect(await load()).toMatchObject(expected)
  },
)

test('nothing is asked about other files, nor about a URL that cannot be used', async () => {
  const trustWorkspaceEnv = () => {
    throw new Error('asked')
  }
  const files = { 'work/.env': 'DELTA_API_KEY=mine\n', 'agent/.env': 'DELTA_BASE_URL=http://localhost:1\n' }
  const { load } = await project(files, { trustWorkspaceEnv })
  const found = await load()
  expect(found).toMatchObject({ apiKey: 'mine', baseUrl: 'http://localhost:1' })
  expect(found).not.toHaveProperty('workspaceEnvDigest')
  expect(await refusal({ 'work/.env': 'DELTA_BASE_URL=x\n' }, { trustWorkspaceEnv })).toContain(
    'is not an http',
  )
})

test('a carriage return within the name hides no endpoint', async () => {
  const files = { 'work/.env': 'DELTA_BASE\r_URL=http://localhost:1\n' }
  expect(await refusal(files)).toContain('project/work/.env: The endpoint http://localhost:1/')
})

test.each<[string, Files, string[]]>([
  [
    'the key of the workspace',
    { 'work/.env': 'DELTA_API_KEY=k\n' },
    ["work/.env:1: The model's key is from this file, in place of OPENAI_API_KEY of the environment."],
  ],
  [
    'the key of the project, and the one that it replaces',
    { '.env': 'DELTA_API_KEY=k\n' },
    [".env:1: The model's key is from this file, in place of OPENAI_API_KEY of the environment."],
  ],
  [
    'a key that replaces one in a file',
    { 'work/.env': 'DELTA_API_KEY=k\n', 'agent/.env': 'OPENAI_API_KEY=other\n' },
    ["work/.env:1: The model's key is from this file, in place of OPENAI_API_KEY in agent/.env."],
  ],
  [
    'no key that is the same',
    { 'work/.env': 'DELTA_API_KEY=sk\n' },
    ["work/.env:1: The model's key is from this file."],
  ],
  [
    'the endpoint of the project',
    { '.env': '\nDELTA_BASE_URL=http://x/v1\n', 'agent/.env': 'DELTA_API_KEY=k\n' },
    [".env:2: The model's endpoint http://x/v1 is from this file."],
  ],
  [
    'both of one file',
    { '.env': 'DELTA_API_KEY=k\nDELTA_BASE_URL=http://x/v1\n' },
    [
      ".env:2: The model's endpoint http://x/v1 and the key are from this file, in place of OPENAI_API_KEY of the environment.",
    ],
  ],
  [
    'each of another file',
    { 'work/.env': 'DELTA_API_KEY=k\n', '.env': 'DELTA_BASE_URL=http://x/v1\n' },
    [
      ".env:1: The model's endpoint http://x/v1 is from this file, and the key is from work/.env, in place of OPENAI_API_KEY of the environment.",
    ],
  ],
  ['nothing of the agent', { 'agent/.env': 'DELTA_API_KEY=k\nDELTA_BASE_URL=http://x/v1\n' }, []],
])('K9: one warning names %s', async (_, files, expected) => {
  const { root, load } = await project(files, { env: { OPENAI_API_KEY: 'sk' } })
  const { warnings } = await load({ trustWorkspaceEnv: true })
  const told = warnings.map(({ file, line, message }) => `${file}:${line}: ${message}`)
  expect(told.map((text) => text.replaceAll(`${root}/`, ''))).toEqual(expected)
})

test('K4: an agent inside of another run’s workspace gets no key for an address of its own', async () => {
  const files = { 'parent/child/agent.yaml': '', 'parent/.delta/20261120_093000_a1b2c3/keep': '' }
  const root = await directoryOf(files)
  const options = {
    workDirectory: join(root, 'parent/child/work'),
    agentHome: join(root, 'parent/child'),
    llmBaseUrl: 'https://evil.example.com',
  }
  const env = {
    OPENAI_API_KEY: 'sk',
    DELTA_PARENT_RUN: join(root, 'parent/.delta/20261120_093000_a1b2c3'),
  }
  await expect(loadEnvironment({ ...options, env })).rejects.toThrow(
    `${root}/parent/child/agent.yaml: llm.base_url would send a key from elsewhere`,
  )
  expect(await loadEnvironment({ ...options, env: { OPENAI_API_KEY: 'sk' } })).toMatchObject({
    apiKey: 'sk',
  })
  const link = join(root, 'link')
  await symlink(join(root, 'parent/child'), link)
  await expect(loadEnvironment({ ...options, agentHome: link, env })).rejects.toThrow('would send a key')
})

/** An agent that a tool of another run may have written, and that run's variables. */
async function nestedAgent(files: Files, variables: NodeJS.ProcessEnv) {
  const root = await directoryOf({
    'made/agent/agent.yaml': '',
    '.delta/20261120_093000_a1b2c3/keep': '',
    ...files,
  })
  const env = { ...variables, DELTA_PARENT_RUN: join(root, '.delta/20261120_093000_a1b2c3') }
  return { env, agentHome: join(root, 'made/agent'), workDirectory: join(root, 'made/work') }
}

test.each([
  ['an address on this machine', { 'made/agent/.env': 'DELTA_BASE_URL=http://localhost:1/v1\n' }],
  [
    'the address of a project that begins there',
    { 'made/.git/HEAD': '', 'made/.env': 'DELTA_BASE_URL=https://evil.example.com\n' },
  ],
])('an agent that a tool of another run may have written gets no key for %s', async (_, files) => {
  const options = await nestedAgent(files, { OPENAI_API_KEY: 'sk' })
  await expect(loadEnvironment(options)).rejects.toThrow('DELTA_BASE_URL would send a key from elsewhere')
})

test('K4: such an agent may have an address on this machine without a key, one with its own key, and that of its parent', async () => {
  const url = 'http://localhost:1/v1'
  for (const line of ['', 'DELTA_API_KEY=mine']) {
    const options = await nestedAgent(
      { 'made/agent/.env': `${line}\n` },
      line ? { OPENAI_API_KEY: 'sk' } : {},
    )
    expect(await loadEnvironment({ ...options, llmBaseUrl: url })).toMatchObject({ baseUrl: url })
  }
  const parents = 'https://api.example.com/v1'
  const options = await nestedAgent({}, above({ vendor: 'openai', key: 'sk', address: parents }))
  expect(await loadEnvironment({ ...options, llmBaseUrl: parents })).toMatchObject({
    apiKey: 'sk',
    baseUrl: parents,
  })
})

/** What the run above hands on. */
function above(pair: object, env: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { DELTA_CREDENTIALS: JSON.stringify({ pairs: [pair], env }) }
}

test('such an agent gets no key of the workspace for its address, be there a key beside it, or a link to one', async () => {
  const url = 'https://evil.example.com'
  const files = { 'made/work/.env': 'DELTA_API_KEY=mine\n' }
  const beside = await nestedAgent({ ...files, 'made/agent/.env': 'DELTA_API_KEY=any\n' }, {})
  await expect(loadEnvironment({ ...beside, llmBaseUrl: url })).rejects.toThrow('would send a key')

  const linked = await nestedAgent(files, {})
  await symlink(join(linked.workDirectory, '.env'), join(linked.agentHome, '.env'))
  for (const workDirectory of [linked.agentHome, '/nowhere'])
    await expect(loadEnvironment({ ...linked, workDirectory, llmBaseUrl: url })).rejects.toThrow(
      'would send a key',
    )
})

test("below a run, the workspace's .env may name the endpoint of the run above; any other needs the option", async () => {
  const url = 'http://localhost:1/v1'
  const files = { 'made/work/.env': `DELTA_BASE_URL=${url}\nDELTA_API_KEY=mine\n` }
  const inherited = await nestedAgent(files, above({ vendor: 'openai', key: 'sk', address: url }))
  expect(await loadEnvironment(inherited)).toMatchObject({ apiKey: 'mine', baseUrl: url })
  const elsewhere = { vendor: 'openai', key: 'sk', address: 'http://localhost:2/v1' }
  const other = await nestedAgent(files, above(elsewhere))
  await expect(loadEnvironment(other)).rejects.toThrow('or trust this file')
  expect((await loadEnvironment({ ...other, trustWorkspaceEnv: true })).baseUrl).toBe(url)
})

test('K8: the origins of what the run above found name that run and its file', async () => {
  const origins = [
    { name: 'DELTA_API_KEY', from: '/src/x/.env' },
    { name: 'llm.base_url', from: '/src/x/agent.yaml' },
  ]
  const pair = { vendor: 'openai', key: 'sk', address: 'http://localhost:1/v1', origins }
  const options = await nestedAgent({}, above(pair))
  const named = origins.map(({ name, from }) => ({ name, from: `run 20261120_093000_a1b2c3, ${from}` }))
  expect((await loadEnvironment(options)).origins).toEqual(named)
})

test('K6: what stands in the files of other vendors is handed on as pairs, each with the address that its own names make', async () => {
  const { root, load } = await project(
    {
      'agent/.env': 'ANTHROPIC_API_KEY=a\nGEMINI_API_KEY=g\n',
      'work/.env': 'ANTHROPIC_BASE_URL=http://evil.example\n',
    },
    { env: { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' } },
  )
  const gemini = { vendor: 'GEMINI_API_KEY', key: 'g' }
  const found = await load()
  expect(found).toMatchObject({ others: [gemini], exported: { OPENAI_API_KEY: 'o' } }) // nobody said yes to the address
  await rm(join(root, 'work/.env'))
  const anthropic = { vendor: 'anthropic', key: 'a', address: 'https://api.anthropic.com' }
  expect(await load()).toMatchObject({ others: [anthropic, gemini] })
})

test('K3, K9: a yes to one address of a file is none to another vendor’s, whose key then stays at home; a key there that replaces one is named', async () => {
  const urls = 'OPENAI_BASE_URL=http://o.example\nANTHROPIC_BASE_URL=http://a.example\n'
  const env = { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' }
  const { root, load } = await project({ 'work/.env': urls }, { env, trustWorkspaceEnv: true })
  expect(await load()).toMatchObject({ baseUrl: 'http://o.example', others: [] })
  await writeFile(join(root, 'work/.env'), 'ANTHROPIC_API_KEY=theirs\n')
  const { others, warnings } = await load()
  expect(others).toMatchObject([{ vendor: 'anthropic', key: 'theirs' }])
  expect(warnings.map(({ message }) => message)).toEqual([
    'ANTHROPIC_API_KEY of commands and sub-agents is from this file, in place of ANTHROPIC_API_KEY of the environment.',
  ])
})

test('K6: a key that is the agent’s own is not handed on as another vendor’s, which would send it elsewhere', async () => {
  const llm = { provider: 'openai', apiKeyEnv: 'GATEWAY_KEY' } as const
  const { load } = await project({ 'agent/.env': 'GATEWAY_KEY=g\nOPENAI_API_KEY=g\n' }, { llm })
  expect(await load()).toMatchObject({ apiKey: 'g', others: [] })
})

test('K6: where another provider was set, a key of the agent’s own directory is handed on to nobody: its address is not known any more', async () => {
  const llm = { provider: 'anthropic', isOtherProvider: true } as const
  const files = { 'agent/.env': 'OPENAI_API_KEY=of-gateway\nANTHROPIC_API_KEY=a\n' }
  const { load } = await project(files, { llm })
  expect(await load()).toMatchObject({ apiKey: 'a', others: [] })
})

test('DELTA_CREDENTIALS that no engine wrote is refused', async () => {
  for (const text of ['{', '[]', '{"pairs":1,"env":{}}'])
    expect(await refusal({}, { env: { DELTA_CREDENTIALS: text } })).toMatch(
      /^DELTA_CREDENTIALS: It does not hold what an engine sets there/,
    )
})

test('an agent that a tool of another run may have written is not trusted by the option', async () => {
  const options = await nestedAgent({}, { OPENAI_API_KEY: 'sk' })
  const trusting = { ...options, llmBaseUrl: 'https://evil.example.com', trustWorkspaceEnv: true }
  await expect(loadEnvironment(trusting)).rejects.toThrow(
    /Put the key for that address into the .env beside it.$/,
  )
})

test.each(['http://localhost@evil.com', 'http://user:pw@localhost'])('%s holds credentials', async (url) => {
  expect(
    await refusal({ 'work/.env': `DELTA_BASE_URL=${url}\n` }),
  ).toBe(`project/work/.env:1:1: DELTA_BASE_URL holds credentials.
Take them out of the URL; a key is given as DELTA_API_KEY=…`)
})

test.each(['nonsense', 'localhost:11434', 'ftp://x/v1'])(
  '%s is no URL, and nothing else is said of it',
  async (url) => {
    const message = `DELTA_BASE_URL is not an http or https URL.
For example DELTA_BASE_URL=http://localhost:11434/v1`
    expect(await refusal({ 'work/.env': `# mine\nDELTA_BASE_URL=${url}\n` })).toBe(
      `project/work/.env:2:1: ${message}`,
    )
    expect(await refusal({}, { env: { DELTA_BASE_URL: url } })).toBe(`environment: ${message}`)
  },
)

test('a name that is almost one of ours is pointed out; others are ignored', async () => {
  const { root, load } = await project({
    'agent/.env':
      'DELTA_APIKEY=sk\nOPENAI_API_TYPE=x\nOPENAI_ORG_ID=x\nexport OPENAI_API_BASE=http://x\nDELTA_PRICES=p.yaml\n',
  })
  const { warnings } = await load()
  expect(warnings.map(({ line, message, hint }) => `${line}: ${message} ${hint}`)).toEqual([
    '1: DELTA_APIKEY has no effect. Did you mean DELTA_API_KEY?',
    '4: OPENAI_API_BASE has no effect. Did you mean OPENAI_BASE_URL?',
    '5: DELTA_PRICES is ignored here. Set it in the environment, or use --prices.',
  ])
  expect(warnings[1]).toMatchObject({ file: join(root, 'agent/.env'), column: 8 })
})

test('without a key, the first name that was probably meant as one is pointed out; its value is not', async () => {
  const { load } = await project({
    'agent/.env': '# a comment\nSECRET_SAUCE=x\nOPENAI_KEY=sk-1\nAPI_KEY=sk-2\n',
  })
  const say = async (more = {}) =>
    (await load(more)).warnings.map(({ line, message, hint }) => `${line}: ${message} ${hint}`)
  expect(await say()).toEqual([
    '3: OPENAI_KEY has no effect. A key is read from DELTA_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY.',
  ])
  for (const enough of [
    { env: { OPENAI_API_KEY: 'sk' } },
    { llmBaseUrl: 'http://localhost:1' },
    { llm: { provider: 'script' } },
  ])
    expect(await say(enough)).toEqual([])
})

test('without a key, a line without "=" is pointed out, which takes the next line with it', async () => {
  const { load } = await project({ 'agent/.env': 'OPENAI_API_KEY sk-secret\nDELTA_API_KEY=k\n' })
  const [warning, ...others] = (await load()).warnings
  expect(others).toEqual([])
  expect(warning).toMatchObject({ line: 1, message: expect.stringContaining('has no "="') })
  expect(JSON.stringify(warning)).not.toContain('sk-secret')
})

test('an agent that is not there is said to be missing', async () => {
  const { root, load } = await project({})
  const agentHome = join(root, 'nowhere')
  await expect(load({ agentHome })).rejects.toMatchObject({
    code: 'ERR_CONFIG_NOT_FOUND',
    message: expect.stringContaining(`${agentHome}: the agent's directory does not exist.`),
  })
})

test('an .env that is a directory is ignored, one that is not text is an error', async () => {
  const { load } = await project({ 'agent/.env/x': '' })
  expect(await load()).toEqual(NOTHING)
  expect(await refusal({ 'agent/.env': 'A=\0' })).toContain('is not a text file')
})

test('a line of an .env that is called llm.base_url has no effect: that is a key of agent.yaml', async () => {
  const root = await directoryOf({
    'work/.env': 'llm.base_url=nowhere\n',
    'agent/.env': 'llm.base_url=http://a.example\n',
  })
  const places = { workDirectory: join(root, 'work'), agentHome: join(root, 'agent') }
  const environment = await loadEnvironment({ ...places, env: { 'llm.base_url': 'http://b.example' } })
  expect(environment).not.toHaveProperty('baseUrl')
})
