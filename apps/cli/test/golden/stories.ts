import { CONTEXT, call, type Story, says, scripted } from './story.js'

const RUN = 'delta run --agent agent -w work -m Go --run-id one'
const COUNT = `tools:
  - { name: count, description: Counts lines., exec: 'wc -l \${file}', parameters: [{ name: file, type: string }] }
`
const REMOVE = `policy: { on_confirmation: ask_human }
tools:
  - { name: remove, exec: 'rm -f \${file}', effects: { destructive: true, network: false } }
`
const KILLED = [
  '(exec delta run --agent agent -w work -m Go --run-id one -q) & while [ ! -e work/started ]; do sleep 0.05; done; kill -9 $!; wait $! 2> /dev/null; echo killed',
]

/** What people do with runs, by what the story is about. */
export const STORIES: Readonly<Record<string, Story>> = {
  'a run': {
    files: scripted(COUNT, [call('count', '{ file: notes.txt }'), says('Two lines.'), says('Still two.')]),
    lines: [
      RUN,
      'delta list-runs -w work',
      'delta list-runs -w work --json',
      'delta show -w work',
      'delta show -w work --answer',
      'delta show -w work --request 2',
      'delta show -w work --step 1',
      'delta show -w work --json',
      'delta show -w work --tool count',
      'delta show -w work --tool cuont',
      'delta show -w work --failed',
      'delta journal verify -w work',
      'delta context explain -w work',
      'delta context build -w work -m Next',
      'delta continue -w work',
      'delta continue -w work -m More',
      'delta show -w work',
      `${RUN} --new`,
      'delta run --agent agent -w work -m Go --new --run-id two --format json',
      'delta run --agent agent -w work -m Go --new --run-id three --format stream-json',
      'delta run --agent agent -w work -m Go --new --run-id four --format raw -q',
      'delta run --agent agent -w work -m Go --new --run-id five -v',
      'delta list-runs -w work -w elsewhere',
      'delta list-runs -w wo*',
    ],
  },
  'questions to a person': {
    files: scripted('', [call('ask_human', '{ prompt: "Which colour?" }'), says('Noted.'), says('Again.')]),
    lines: [
      RUN,
      'delta show -w work',
      'cat work/.delta/one/interaction/request.json',
      'delta continue -w work',
      'echo blue > work/.delta/one/interaction/response.txt && delta continue -w work',
      'echo green | delta run --agent agent -w work -m Go --run-id two --new -i',
      'delta run --agent agent -w work -m Go --run-id three --new -q; delta continue -w work -m red --format json -q',
    ],
  },
  'yes or no': {
    files: scripted('', [call('ask_human', '{ prompt: "Sure?", input_type: confirmation }'), says('Noted.')]),
    lines: [RUN, 'delta continue -w work -m perhaps', 'delta continue -w work -m yes'],
  },
  'a secret': {
    files: scripted("tools: [{ name: open, exec: 'echo ${password}' }]\n", [
      call('ask_human', '{ prompt: "Password?", sensitive: true }'),
      call('open', '{ password: "{{last_observation}}" }'),
      says('Opened.'),
    ]),
    lines: [
      `${RUN}`,
      'delta show -w work',
      'delta continue -w work -m open-sesame',
      'grep -rc open-sesame work/.delta/one/journal.jsonl',
    ],
  },
  approval: {
    files: scripted(REMOVE, [call('remove', '{ file: notes.txt }'), says('Removed.'), says('Again.')]),
    lines: [
      RUN,
      'delta show -w work',
      'delta continue -w work -m yes',
      'delta continue -w work --approve nothing',
      'delta continue -w work --approve x --deny y',
      'delta continue -w work --approve $(jq -r .request_id work/.delta/one/interaction/request.json)',
      'ls work',
      'delta run --agent agent -w work -m Go --run-id two --new -q; delta continue -w work --deny $(jq -r .request_id work/.delta/two/interaction/request.json)',
      'echo yes | delta run --agent agent -w work -m Go --run-id three --new -i',
    ],
  },
  'a policy': {
    files: scripted(
      'policy: { allow_network: false }\ntools:\n  - { name: fetch, exec: "curl ${url}", effects: { network: true, destructive: false } }\n',
      [call('fetch', '{ url: "http://localhost" }'), says('Refused.')],
    ),
    lines: [RUN, 'delta show -w work', 'delta tool list agent', 'delta tool list agent --json'],
  },
  'calls that cannot be made': {
    files: scripted(COUNT, [
      call('cuont', '{ file: notes.txt }'),
      call('count', '{ fil: notes.txt }'),
      call('count', '{ file: "-rf" }'),
      call('count', '{ file: missing.txt }'),
      'tool_calls: [{ name: count, arguments: "{broken" }]',
      says('Enough.'),
    ]),
    lines: [RUN, 'delta show -w work', 'delta show -w work --failed'],
  },
  'tools and their output': {
    files: scripted(
      `tools:
  - { name: fails, shell: 'echo out; echo err >&2; exit 3' }
  - { name: slow, shell: 'exec sleep 30', timeout_ms: 300 }
  - { name: much, shell: 'seq 1 30000' }
  - { name: told, shell: 'cat', stdin: json, parameters: [{ name: items, type: array, items: { type: integer } }] }
  - { name: named, exec: 'tee \${file}', stdin: text, display: 'note \${file}' }
  - { name: env, shell: 'echo "[$DELTA_API_KEY] $DELTA_RUN_ID"', pass_env: [DELTA_API_KEY] }
`,
      [
        call('fails'),
        call('slow'),
        call('much'),
        call('told', '{ items: [1, 2] }'),
        call('named', '{ file: a.txt, text: "A text." }'),
        call('env'),
        says('All tried.'),
      ],
    ),
    lines: [
      `DELTA_API_KEY=key-of-the-tests ${RUN}`,
      'delta show -w work --tool told',
      'delta tool list agent',
      'delta tool expand agent',
      'delta tool expand agent --json',
      `delta tool expand agent named '{"file":"a.txt","text":"A"}'`,
      'delta tool lint agent',
    ],
  },
  hooks: {
    files: scripted(
      COUNT,
      [call('count', '{ file: notes.txt }'), call('count', '{ file: notes.txt }'), says('So.')],
      {
        'agent/hooks.yaml': `pre_tool_execution:
  command: [sh, -c, '[ -e seen ] && printf "%s" "{\\"action\\":\\"skip\\",\\"observation\\":\\"Once is enough.\\"}" > "$DELTA_HOOK_IO_PATH/output/control.json"; touch seen']
on_run_end: { command: [sh, -c, 'exit 4'] }
`,
      },
    ),
    lines: [RUN, 'delta show -w work', 'delta show -w work -v'],
  },
  'a run that was killed': {
    files: scripted(
      "tools: [{ name: work, shell: '[ -e started ] || { touch started; exec sleep 60; }' }]\n",
      [call('work'), says('Finished.')],
    ),
    lines: [
      ...KILLED,
      'delta list-runs -w work',
      'delta show -w work',
      'delta continue -w work',
      'delta journal verify -w work',
    ],
  },
  'a run that is taken up by the same command': {
    files: scripted(
      "tools: [{ name: work, shell: '[ -e started ] || { touch started; exec sleep 60; }' }]\n",
      [call('work'), says('Finished.')],
    ),
    lines: [...KILLED, 'delta run --agent agent -w work -m Else --run-id two', 'delta list-runs -w work'],
  },
  'runs that fail': {
    files: scripted(`max_iterations: 1\n${COUNT}`, [call('count', '{ file: notes.txt }'), says('So.')], {
      'keyless/agent.yaml': 'name: keyless\nllm: { model: m }\n',
      'keyless/context.yaml': CONTEXT,
      'far/agent.yaml': 'name: far\nllm: { model: m, base_url: "http://127.0.0.1:9/v1", max_attempts: 2 }\n',
      'far/context.yaml': CONTEXT,
      'empty/agent.yaml': 'name: empty\nllm: { provider: script, script: script.yaml }\n',
      'empty/context.yaml': CONTEXT,
      'empty/script.yaml': '- { content: "" }\n',
    }),
    lines: [
      RUN,
      'delta show -w work',
      'delta continue -w work --retry',
      'delta continue -w work --retry --max-iterations 5',
      'delta run --agent keyless -w k -m Go --run-id one',
      'DELTA_API_KEY=x delta run --agent far -w f -m Go --run-id one',
      'delta run --agent empty -w e -m Go --run-id one',
    ],
  },
  'damaged runs': {
    files: scripted('', [says('Done.')]),
    lines: [
      `${RUN} -q`,
      'cp -r work torn && printf \'{"seq":9,"ty\' >> torn/.delta/one/journal.jsonl && delta journal verify -w torn; delta show -w torn',
      "cp -r work bad && sed -i '2s/^/x/' bad/.delta/one/journal.jsonl && delta journal verify -w bad; delta show -w bad; delta list-runs -w bad",
      'delta journal repair -w bad; delta journal verify -w bad',
      'delta show none -w work',
      'delta show -w nowhere',
    ],
  },
  "somebody else's run": {
    files: scripted('', [says('Done.'), says('More.')]),
    lines: [
      `${RUN} -q`,
      'cp -r work copy && delta continue -w copy -m More',
      'delta show -w copy',
      'delta continue -w copy -m More --trust-run',
      'mv work moved && delta continue -w moved -m More',
      'DELTA_STATE_DIR=/proc/none delta run --agent agent -w fresh -m Go',
    ],
  },
  'the settings of an agent': {
    files: scripted('temperature_is: not a key\n', [says('Done.')]),
    lines: [
      'delta config --agent agent',
      'delta config --agent agent --strict',
      'delta config --agent agent --json',
      'delta run --agent agent -w work -m Go --run-id one --set llm.temperature=0 --set max_iterations=3',
      'delta run --agent agent -w work -m Go --set llm.temprature=0',
      'delta run --agent agent -w work -m Go --set max_iterations=none',
    ],
  },
  'where runs lie': {
    files: scripted('', [says('Done.'), says('More.')]),
    lines: [
      'delta run --agent agent -w work -m Go --run-id one --runs-dir runs',
      'ls -A work',
      'delta list-runs -w work',
      'delta continue -w work -m More',
      'delta run --agent agent -w work -m Go --runs-dir work/runs',
      'cd work && git init -q . && delta run --agent ../agent -w . -m Go --runs-dir .delta --run-id two -q && git status --short',
    ],
  },
  'agents that call agents': {
    files: {
      ...scripted(
        "tools: [{ name: ask, exec: 'delta run --agent ${AGENT_HOME}/../child -m - -w child -q', stdin: task }]\n",
        [call('ask', '{ task: Help }'), says('{{last_observation}}')],
      ),
      'child/agent.yaml': 'name: child\nllm: { provider: script, script: script.yaml }\n',
      'child/context.yaml': CONTEXT,
      'child/script.yaml': '- { content: "From the child." }\n',
    },
    lines: [RUN, 'delta list-runs -w work/child --json'],
  },
  'a context of its own': {
    files: scripted('', [says('Done.'), says('More.')], {
      'agent/system_prompt.md': 'You count.\n',
      'agent/context.yaml': `header: false
merge: true
sources:
  - { type: file, path: '\${AGENT_HOME}/system_prompt.md', header: 'Prompt \${id}' }
  - { type: text, id: said, text: 'Be brief.', role: user }
  - { type: file, id: notes, path: '\${CWD}/notes.txt', on_missing: skip }
  - { type: file, id: none, path: '\${CWD}/none.txt', on_missing: skip }
  - { type: journal, id: conversation, max_iterations: 2 }
`,
    }),
    lines: [
      RUN,
      'delta context explain -w work',
      'delta context explain -w work --json',
      'delta context build -w work',
      'echo changed >> agent/system_prompt.md; delta show -w work',
      "sed -i 's/Be brief/Be long/' agent/context.yaml; delta show -w work; delta continue -w work -m More",
    ],
  },
  'hooks that stop a run or fail': {
    files: scripted(COUNT, [call('count', '{ file: notes.txt }'), says('So.')], {
      'agent/hooks.yaml': `pre_llm_request: { command: [sh, -c, 'echo broken >&2; exit 3'] }
pre_tool_execution: { command: [sh, -c, 'rm -r "$DELTA_HOOK_IO_PATH"'] }
on_error: { command: [sh, -c, 'cp "$DELTA_HOOK_IO_PATH"/input/context.json failed.json'] }
`,
    }),
    lines: [RUN, 'delta show -w work --failed', 'delta list-runs -w work --json'],
  },
  'a workspace that is not believed': {
    files: {
      ...scripted(
        `policy:
max_tool_calls: 1
tools:
  - { name: named, exec: 'echo \${name}', parameters: [{ name: name, pattern: '(a+)+b' }], effects: { destructive: false } }
  - { name: shut, exec: 'ls', sandbox: { write: [CWD/none] } }
`,
        [
          call('named', `{ name: "${'a'.repeat(40)}" }`),
          `tool_calls: [{ name: named, arguments: { name: ab } }, { name: named, arguments: { name: aab } }]`,
          says('Tried.'),
        ],
      ),
      'work/.env': 'OPENAI_BASE_URL=http://127.0.0.1:9/v1\nOPENAI_API_KEY=not-a-real-key\n',
      'far/agent.yaml': 'name: far\nllm: { model: m }\n',
      'far/context.yaml':
        "sources:\n  - { type: file, id: link, path: '${CWD}/link' }\n  - { type: journal, id: conversation }\n",
    },
    lines: [
      'delta run --agent far -w work -m Go',
      'echo yes | delta run --agent far -w work -m Go',
      'ln -s /etc/passwd work/link; delta run --agent far -w work -m Go --trust-workspace-env --run-id far',
      'rm work/.env work/link; delta run --agent agent -w work -m Go --run-id one',
      'delta config --agent agent --strict > /dev/null',
      'delta show -w work --failed',
    ],
  },
  'an agent as a server of tools': {
    files: scripted(COUNT, [says('Done.')]),
    lines: [
      `printf '%s\\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' | delta mcp serve agent -w work`,
    ],
  },
  help: {
    files: {},
    lines: [
      'delta',
      'delta tool --help',
      'delta init made && ls -A made && delta run --agent made -w place -m "What is here?" --run-id one',
      'delta init made',
    ],
  },
}
