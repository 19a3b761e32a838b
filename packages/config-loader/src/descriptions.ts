import { SCHEMA_WORDS } from '@delta/tool-expander/internal'

/**
 * What the keys mean that other packages own, for editors and for the reference, by their place: `[]` is an element of a
 * list. The schemas that check an agent do without, for they are made at every start.
 */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  name: 'Of this file, for its readers.',
  version: 'Of this file, for its readers.',
  description: 'What is in this file, for its readers.',
  tools: 'Commands that the model may run.',
  lifecycle_hooks: 'The hooks, which may also stand in the file without this key around them.',
  pre_llm_request: 'Before a request is sent; may replace it.',
  post_llm_response: 'When an answer has come; may replace it.',
  pre_tool_execution: 'Before a call is run; may skip it or stop the run.',
  post_tool_execution: 'When a command has ended; may replace its result.',
  on_error: 'When a request to the model has failed, or the run broke; may forbid another attempt.',
  on_run_end: 'When the run has ended, also by a signal.',
  on_iteration_start: 'Before each cycle.',
  on_iteration_end: 'After each cycle.',
  'imports[].effects':
    'By the name of a tool, or * for all of them: effects that count in place of those that the file declares.',
  'imports[].trust':
    'Who vouches for it: policy.min_trust_level refuses less, and from org up its idempotent counts.',

  policy: 'What commands may do without asking. One rule written brings the defaults of the others.',
  'policy.allow_destructive':
    'false: a person is asked before a tool whose effects are destructive. Default: false',
  'policy.allow_non_reversible': 'false: a person is asked before what cannot be undone. Default: true',
  'policy.allow_billable': 'false: a person is asked before what costs money. Default: true',
  'policy.allow_network': 'false: tools that use the network are refused. Default: true',
  'policy.allow_filesystem_write': 'false: tools that write files are refused. Default: true',
  'policy.allow_filesystem_delete': 'false: a person is asked before files are deleted. Default: true',
  'policy.allow_interactive': 'false: tools that need a terminal or an answer are refused. Default: false',
  'policy.min_trust_level': 'Imported tools below it are refused. Default: inferred',
  'policy.max_cost_estimate': 'A person is asked before a tool whose estimate is higher. Default: high',
  'policy.on_confirmation': 'deny: what a person would be asked is refused instead. Default: ask_human',
  'policy.redact':
    'What is taken out of results: known secrets (declared, the default), or also what looks like one (patterns, the default of imported tools).',
  'policy.tools': 'By its name, allow: what a person would be asked of this tool is allowed.',

  'tools[].name': 'As the model calls it: 1 to 64 letters, digits, _ and -.',
  'tools[].description': 'What the model is told about it.',
  'tools[].exec': 'A command without a shell; ${name} is a parameter.',
  'tools[].shell': 'A shell script; ${name} is a parameter, and passed safely quoted.',
  'tools[].command': 'The program and its arguments; parameters are appended.',
  'tools[].stdin':
    'The parameter whose value goes to standard input; json: all arguments, as one JSON object.',
  'tools[].input_schema': 'With stdin: json, JSON Schema of the arguments. Instead of parameters.',
  'tools[].allow_dash': 'Let values begin with "-".',
  'tools[].display':
    'What people see of a call instead of its command, as in edit ${path}. Approvals and -v show the command.',
  'tools[].timeout_ms': 'Default 600000; 0 for no limit.',
  'tools[].cwd': 'Where it runs, relative to the workspace.',
  'tools[].pass_env': 'Engine credentials it may see, by name.',
  'tools[].on_interrupt':
    'What continue does with a call that was running when its run was stopped or crashed: tell the model that its outcome is unknown (default), run it again, or ask.',
  'tools[].critical': 'Once it has run, a result other than SUCCESS ends the run.',
  'tools[].output.max_chars': 'How much the model sees. Default 30000.',
  'tools[].parameters[].description': 'What the model is told about it.',
  'tools[].parameters[].pattern': 'A regular expression that the whole value must match.',
  'tools[].parameters[].items': 'Of an array: what each of its values is, as JSON Schema. Default: a string',
  'tools[].parameters[].properties': 'Of an object: its properties, each as JSON Schema.',
  'tools[].parameters[].required_properties': 'The list of required, where the object itself is optional.',
  'tools[].parameters[].allow_dash': 'Let values begin with "-".',
  'tools[].parameters[].option_name': 'With inject_as: option, the flag, as in --port.',
  'tools[].parameters': 'What the template does not say of its parameters.',
  'tools[].parameters[].name': 'As in the template.',
  'tools[].parameters[].type': 'Default: string',
  'tools[].parameters[].required':
    'false: it may be missing. Of an object also a list: the properties that must be there. Default: true',
  'tools[].parameters[].minimum': 'Of a number: the least that passes.',
  'tools[].parameters[].maximum': 'Of a number: the most that passes.',
  ...Object.fromEntries(
    SCHEMA_WORDS.map((word) => [
      `tools[].parameters[].${word}`,
      'As in JSON Schema. The model is told; nothing checks it.',
    ]),
  ),
  'tools[].parameters[].default': 'The value when the model sends none.',
  'tools[].parameters[].enum': 'The only values that pass.',
  'tools[].parameters[].inject_as':
    'With command:, how the value gets to the program: as an argument (default), on standard input, behind option_name, or only in the JSON of stdin: json (there the default).',
  'tools[].parameters[].position': 'With command:, its place among the arguments that are appended, from 0.',
  'tools[].env': 'Environment variables it gets besides those of the run.',
  'tools[].trust':
    'Who vouches for its effects, as with an import. A tool that was imported from ATIP has it from there.',
  'tools[].sandbox':
    'true, or what it may do: it runs under bubblewrap, without network, and writes only to the workspace.',
  'tools[].sandbox.network': 'true: it may use the network. Default: false',
  'tools[].sandbox.write': 'Paths it may write instead of the workspace.',
  'tools[].sandbox.read': 'Paths it may read that are hidden otherwise, as in the home directory.',
  'tools[].output': 'How much of its output the model sees.',
  'tools[].output.keep': 'Which part stays of an output that is longer. Default: both ends',
  'tools[].output.max_bytes':
    'How much it may print before it is ended, so that it cannot fill the disk. Default 1000000000; 0 for no limit.',
  'tools[].effects':
    'What it does to the world, for the policy. What is left out counts as unknown, not as safe.',
  'tools[].effects.filesystem': 'What it does to files.',
  'tools[].effects.filesystem.read': 'It reads files.',
  'tools[].effects.filesystem.write': 'It writes files.',
  'tools[].effects.filesystem.delete': 'It deletes files.',
  'tools[].effects.filesystem.paths': 'Which files; for readers.',
  'tools[].effects.network': 'It uses the network.',
  'tools[].effects.subprocess': 'It starts other programs; for readers.',
  'tools[].effects.idempotent':
    'Running it twice does what running it once does; on_interrupt is then rerun by default.',
  'tools[].effects.reversible': 'What it does can be undone.',
  'tools[].effects.destructive': 'It may destroy what nobody gets back.',
  'tools[].effects.creates': 'What it creates; counts as writing files.',
  'tools[].effects.modifies': 'What it changes; counts as writing files.',
  'tools[].effects.deletes': 'What it deletes; counts as deleting files.',
  'tools[].effects.interactive': 'What it wants from a person.',
  'tools[].effects.interactive.stdin': 'Whether it reads an answer from standard input.',
  'tools[].effects.interactive.prompts': 'It asks questions.',
  'tools[].effects.interactive.tty': 'It needs a terminal.',
  'tools[].effects.cost': 'What a call costs.',
  'tools[].effects.cost.estimate': 'How much, roughly.',
  'tools[].effects.cost.billable': 'Somebody is charged for it.',
  'tools[].effects.duration': 'How long it takes.',
  'tools[].effects.duration.typical': 'As in 2s, or 10m; for readers.',
  'tools[].effects.duration.timeout': 'Of a command that ATIP describes: its timeout_ms, as in 30s.',

  sources: 'What the model sees, in this order.',
  header:
    'What stands above each source but the journal, with its id in place of ${id}; false: nothing. Default: # Context Block: ${id}',
  merge:
    'true: neighbouring sources of one role become one message, with a blank line between two. Default: false',
  total_max_tokens: 'For all messages. The journal gets what the other sources leave.',
  token_counter:
    'A program that counts tokens: it reads one JSON string a line, and prints one number a line.',
  'token_counter.command': 'The program and its arguments.',
  'token_counter.timeout_ms': 'Default 30000; 0 for no limit.',
  'token_counter.pass_env': 'Engine credentials it may see, by name.',
  'sources[].type': 'What kind of source this is.',
  'sources[].id':
    'Its name in the request and in what delta says of it. Default: its path without a leading variable, or its type',
  'sources[].path': 'The file; ${AGENT_HOME}, ${CWD} and ${RUN_DIR} are replaced.',
  'sources[].role': 'Whose message it is. Default: system',
  'sources[].header': 'As header of the whole file, for this source alone.',
  'sources[].text':
    'The text itself; ${AGENT_HOME}, ${CWD} and ${RUN_DIR} are replaced, but not with a backslash before them.',
  'sources[].output_path':
    'The file that the generator writes; what it prints is put there where it writes none.',
  'sources[].on_missing': 'skip: a request without it is sent. Default: error',
  'sources[].max_tokens': 'At most so many of it.',
  'sources[].max_iterations': 'The newest cycles alone.',
  'sources[].dropped':
    'A user message where iterations were left out, with their number in place of ${count}; true: [${count} earlier iterations left out]. Default: false',
  'sources[].generator': 'The program that makes it, run before each request.',
  'sources[].generator.command':
    'The program and its arguments; ${AGENT_HOME}, ${CWD} and ${RUN_DIR} are replaced.',
  'sources[].generator.timeout_ms': 'Default 30000; 0 for no limit.',
  'sources[].generator.pass_env': 'Engine credentials it may see, by name.',
  'sources[].cache': 'When the generator need not run again.',
  'sources[].cache.strategy': 'file_hash: as long as no file has changed.',
  'sources[].cache.invalidate_on': 'Which files: patterns as src/**/*.ts, in the workspace.',
  'sources[].condition': 'When it is sent; always without one.',
  'sources[].condition.when': 'What is looked at.',
  'sources[].condition.pattern':
    'A regular expression, looked for in what the user said; case does not matter.',
  'sources[].condition.path': 'The file that must be there.',
  'sources[].condition.name': 'The environment variable that must not be empty.',
  'sources[].condition.count': 'From this cycle on.',
}
