import { bindArguments, expandTool, toFunctionTool } from '@delta/tool-expander'

const tool = expandTool({
  name: 'count_matches',
  shell: 'grep -- ${pattern} ${file} | wc -l',
})
console.log(toFunctionTool(tool).function.parameters.required) // what the model sees

const call = { pattern: '"; rm -rf ~; "', file: 'a.txt' } // what the model sends
console.log(bindArguments(tool, call))
