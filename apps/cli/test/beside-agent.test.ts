import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

test('a model that is a script beside the agent is named as a hook is, with ${AGENT_HOME}', async () => {
  await using agent = await temporaryAgent({
    agent: { llm: { provider: 'command', command: ['sh', '${AGENT_HOME}/model.sh'] } },
    files: { 'model.sh': `cat > /dev/null; echo '{"role":"assistant","content":"Said by the script."}'\n` },
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Said by the script.\n' })
})
