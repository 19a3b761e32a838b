import { bindArguments, expandTool } from '@delta/tool-expander'

const edit = {
  type: 'object',
  properties: { old: { type: 'string' }, new: { type: 'string' } },
  required: ['old', 'new'],
}
const tool = expandTool({
  name: 'edit',
  exec: 'python3 edit.py',
  stdin: 'json',
  parameters: [{ name: 'path' }, { name: 'edits', type: 'array', items: edit }],
})
const call = (args: unknown) => console.log(bindArguments(tool, args))

call({ edits: [{ old: '-b', new: 'c' }], path: 'a.py' })
call({ path: 'a.py', edits: [{ old: '-b' }] })
