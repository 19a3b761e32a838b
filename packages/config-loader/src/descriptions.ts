import { SCHEMA_WORDS } from '@delta/tool-expander/internal'

/**
 * Descriptions of the keys that other packages own, for editors and for the reference, by their place: `[]` is an element of
 * a list. They are not in the schemas that check an agent, which are made at every start.
 */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  name: 'Name of this file, for its readers.',
  version: 'Version of this file, for its readers.',
  description: 'Contents of this file, for its readers.',
  tools: 'Commands that the model may run.',
  lifecycle_hooks: 'The hooks, which may also stand in the file without this key.',
  pre_llm_request: 'Runs before each request to the model; may replace the request.',
  post_llm_response: 'Runs after each response of the model; may replace the response.',
  pre_tool_execution: 'Runs before each tool call; may skip the call or stop the run.',
  post_tool_execution: 'Runs after each tool call; may replace the result.',
  on_error: 'Runs after a failed request to the model or a failure of the run; may forbid a retry.',
  on_run_end: 'Runs at the end of the run, also after a signal.',
  on_iteration_start: 'Runs before each iteration.',
  on_iteration_end: 'Runs after each iteration.',
  'imports[].effects': 'Effects that replace those of the file, by tool name, or * for all tools.',
  'imports[].trust':
    'Who vouches for the file: policy.min_trust_level refuses lower levels, and from org up its idempotent counts.',

  prices: 'Prices of models in US dollars for a million tokens, before the shipped ones.',
  'prices[].match': 'The name of a model, or the beginning of names with a * behind it. The longest counts.',
  'prices[].input': 'Tokens read, and not from the cache.',
  'prices[].output': 'Tokens written.',
  'prices[].cache_read': 'Tokens read from the cache. Default: as input',
  'prices[].cache_write': 'Tokens written into the cache. Default: as input',
  'prices[].cache_write_1h': 'Tokens written into the cache for an hour. Default: twice input',
  'prices[].reasoning': 'Tokens of reasoning. Default: as output',
  'prices[].above':
    'By a number of tokens: the prices of a request that reads more of them, cached or not. They count for the whole request.',
  policy: 'What tools may do without asking. If any rule is written, the defaults of the others apply.',
  'policy.allow_destructive': 'false: a person is asked before destructive tools run. Default: false',
  'policy.allow_non_reversible': 'false: a person is asked before irreversible tools run. Default: true',
  'policy.allow_billable': 'false: a person is asked before tools run that cost money. Default: true',
  'policy.allow_network': 'false: tools that use the network are refused. Default: true',
  'policy.allow_filesystem_write': 'false: tools that write files are refused. Default: true',
  'policy.allow_filesystem_delete': 'false: a person is asked before tools delete files. Default: true',
  'policy.allow_interactive': 'false: tools that need a terminal or an answer are refused. Default: false',
  'policy.min_trust_level': 'Imported tools of a lower level are refused. Default: inferred',
  'policy.max_cost_estimate': 'A person is asked before a tool with a higher estimate runs. Default: high',
  'policy.on_confirmation': 'deny: refuses what a person would be asked about. Default: ask_human',
  'policy.redact':
    'What results are redacted of: known secrets (declared, the default), or also strings that look like secrets (patterns, the default of imported tools).',
  'policy.tools': 'By tool name, allow: the tool runs without asking a person.',

  'tools[].name': 'Name for the model: 1 to 64 letters, digits, _ and -.',
  'tools[].description': 'Description for the model.',
  'tools[].exec':
    'A command without a shell; ${name} is a parameter. ${AGENT_HOME}, ${TOOL_HOME} (the directory of the file that defines the tool) and ${CWD} are paths.',
  'tools[].shell': 'A shell script; ${name} is a parameter, passed safely quoted.',
  'tools[].command': 'The program and its arguments; parameters are appended.',
  'tools[].stdin': 'The parameter that is passed on standard input; json: all arguments, as one JSON object.',
  'tools[].input_schema': 'With stdin: json, JSON Schema of the arguments, instead of parameters.',
  'tools[].allow_dash': 'true: values may begin with "-". Default: false',
  'tools[].display':
    'What people see instead of the command, as in edit ${path}. Approvals and -v show the command.',
  'tools[].timeout_ms': 'Timeout in milliseconds; 0 for no limit. Default: 600000',
  'tools[].cwd':
    'Working directory, relative to the workspace, or behind ${AGENT_HOME} or ${TOOL_HOME}. Default: the workspace',
  'tools[].pass_env': 'Names of engine credentials it may see.',
  'tools[].on_interrupt':
    'What continue does with a call that was running when its run was stopped or crashed: report to the model that the outcome is unknown (default), rerun it, or ask a person. Each attempt has the same DELTA_IDEMPOTENCY_KEY in its environment.',
  'tools[].critical': 'true: a result other than SUCCESS ends the run. Default: false',
  'tools[].parameters': 'Details of the parameters that the template does not say.',
  'tools[].parameters[].name': 'Name, as in the template.',
  'tools[].parameters[].type': 'Default: string',
  'tools[].parameters[].description': 'Description for the model.',
  'tools[].parameters[].required':
    'false: optional. For an object also the list of its required properties. Default: true',
  'tools[].parameters[].default': 'The value if the model sends none.',
  'tools[].parameters[].enum': 'The only allowed values.',
  'tools[].parameters[].pattern': 'A regular expression that the whole value must match.',
  'tools[].parameters[].minimum': 'Smallest allowed number.',
  'tools[].parameters[].maximum': 'Largest allowed number.',
  'tools[].parameters[].items': 'JSON Schema of the elements of an array. Default: a string',
  'tools[].parameters[].properties': 'Properties of an object, each as JSON Schema.',
  'tools[].parameters[].required_properties': 'Required properties of an optional object.',
  ...Object.fromEntries(
    SCHEMA_WORDS.map((word) => [
      `tools[].parameters[].${word}`,
      'As in JSON Schema. Only the model sees it; values are not checked against it.',
    ]),
  ),
  'tools[].parameters[].allow_dash': 'true: the value may begin with "-". Default: false',
  'tools[].parameters[].inject_as':
    'With command: how the program gets the value: as an argument (default), on standard input, after option_name, or only in the JSON of stdin: json (there the default).',
  'tools[].parameters[].option_name': 'With inject_as: option, the flag, as in --port.',
  'tools[].parameters[].metadata': "The author's own; the model does not see it.",
  'tools[].parameters[].position': 'With command: the place among the appended arguments, from 0.',
  'tools[].env':
    'Environment variables it gets besides those of the run; ${AGENT_HOME}, ${TOOL_HOME} and ${CWD} are replaced.',
  'tools[].trust': 'Who vouches for its effects, as in imports. Tools from ATIP files have it from there.',
  'tools[].sandbox':
    'true or a mapping: it runs under bubblewrap, without network, and may write only to the workspace.',
  'tools[].sandbox.network': 'true: it may use the network. Default: false',
  'tools[].sandbox.write': 'Paths it may write instead of the workspace.',
  'tools[].sandbox.read': 'Otherwise hidden paths it may read, as in the home directory.',
  'tools[].output': 'What its output is (short for "as"), and how much of it the model sees.',
  'tools[].output.as':
    'What it prints: text; an image (PNG, JPEG, GIF, WebP); a file; auto: an image or PDF if it begins like one, else text; mcp: a CallToolResult as JSON. Default: text',
  'tools[].output.part_bytes':
    'Size in bytes of the largest image or file that is sent, up to 24000000. Default: 5000000',
  'tools[].output.max_chars': 'Most characters that the model sees. Default: 30000',
  'tools[].output.keep': 'Which part of a longer output is kept. Default: both ends',
  'tools[].output.max_bytes':
    'Output in bytes after which it is ended, to keep the disk from filling up; 0 for no limit. Default: 1000000000',
  'tools[].effects': 'What it may do, for the policy. Effects left out count as unknown, not as safe.',
  'tools[].effects.filesystem': 'What it does to files.',
  'tools[].effects.filesystem.read': 'It reads files.',
  'tools[].effects.filesystem.write': 'It writes files.',
  'tools[].effects.filesystem.delete': 'It deletes files.',
  'tools[].effects.filesystem.paths': 'Which files; for readers.',
  'tools[].effects.network': 'It uses the network.',
  'tools[].effects.subprocess': 'It starts other programs; for readers.',
  'tools[].effects.idempotent':
    'Running it twice has the effect of running it once; on_interrupt is then rerun by default.',
  'tools[].effects.reversible': 'Its effects can be undone.',
  'tools[].effects.destructive': 'It may destroy something for good.',
  'tools[].effects.creates': 'What it creates; counts as writing files.',
  'tools[].effects.modifies': 'What it changes; counts as writing files.',
  'tools[].effects.deletes': 'What it deletes; counts as deleting files.',
  'tools[].effects.interactive': 'What it needs from a person.',
  'tools[].effects.interactive.stdin': 'Whether it reads an answer from standard input.',
  'tools[].effects.interactive.prompts': 'It asks questions.',
  'tools[].effects.interactive.tty': 'It needs a terminal.',
  'tools[].effects.cost': 'Cost of a call.',
  'tools[].effects.cost.estimate': 'Rough cost of a call.',
  'tools[].effects.cost.billable': 'A call costs money.',
  'tools[].effects.duration': 'Duration of a call.',
  'tools[].effects.duration.typical': 'Typical duration, as in 2s or 10m; for readers.',
  'tools[].effects.duration.timeout': 'Timeout of a command from an ATIP file, as in 30s.',

  sources: 'What the model sees, in this order.',
  header:
    'Text above each source but the journal, with the id in place of ${id}; false: none. Default: # Context Block: ${id}',
  merge: 'true: neighbouring sources of one role become one message. Default: false',
  total_max_tokens:
    'Token limit of the whole request: the definitions of the tools, and all messages. The journal gets what the rest leaves.',
  token_counter: 'A program that counts tokens: reads one JSON string a line, prints one number a line.',
  'token_counter.command': 'The program and its arguments.',
  'token_counter.timeout_ms': 'Timeout in milliseconds; 0 for no limit. Default: 30000',
  'token_counter.pass_env': 'Names of engine credentials it may see.',
  'sources[].type': 'Kind of source.',
  'sources[].id':
    'Name in the request and in the output of delta. Default: the path without its variable, or the type',
  'sources[].path': 'The file; ${AGENT_HOME}, ${CWD} and ${RUN_DIR} are replaced.',
  'sources[].role': 'Role of the message. Default: system; user with as',
  'sources[].header': 'Like header of the whole file, for this source.',
  'sources[].text':
    'The text; ${AGENT_HOME}, ${CWD} and ${RUN_DIR} are replaced, unless a backslash stands before them.',
  'sources[].output_path': 'The file that the generator writes. If it writes none, its output goes there.',
  'sources[].on_missing': 'skip: requests are sent without a missing file. Default: error',
  'sources[].as': 'What the model gets: an image to look at, or a file such as a PDF. Default: its text.',
  'sources[].prompt_cache':
    'true or 1h: a prefix that the provider may cache ends here. At most 4 sources may have it.',
  'sources[].max_tokens': 'Token limit of this source.',
  'sources[].walk':
    'up: the files of this name from the directory with .git down to the workspace, at most 32 kB together.',
  'sources[].paths':
    'Directories that hold a directory with a SKILL.md for each skill; ${AGENT_HOME}, ${CWD} and ${RUN_DIR} are replaced.',
  'sources[].max_iterations': 'Only the newest iterations.',
  'sources[].drop_to':
    'With more than max_iterations, the oldest are dropped down to about this number at once, and then none for a while. Default: one less than max_iterations',
  'sources[].dropped':
    'A user message in place of dropped iterations, with their number for ${count}; true: [${count} earlier iterations left out]. Default: false',
  'sources[].generator': 'The program that makes the file, run before each request.',
  'sources[].generator.command':
    'The program and its arguments; ${AGENT_HOME}, ${CWD} and ${RUN_DIR} are replaced.',
  'sources[].generator.timeout_ms': 'Timeout in milliseconds; 0 for no limit. Default: 30000',
  'sources[].generator.pass_env': 'Names of engine credentials it may see.',
  'sources[].cache': 'When the generator need not run again.',
  'sources[].cache.strategy': 'file_hash: while no file has changed.',
  'sources[].cache.invalidate_on': 'The files: patterns in the workspace, such as src/**/*.ts.',
  'sources[].condition': 'When the source is sent. Default: always',
  'sources[].condition.when': 'Kind of condition.',
  'sources[].condition.pattern': 'A regular expression to find in user messages, without regard to case.',
  'sources[].condition.path': 'The file that must exist.',
  'sources[].condition.name': 'The environment variable that must not be empty.',
  'sources[].condition.count': 'First iteration in which it is sent.',
}
