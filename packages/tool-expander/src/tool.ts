import type { EngineVariable } from './template.js'

/** What a value may be. `array` is a list of strings, or of what `items` says. */
export type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'

/** Where a value goes: into the argument vector, to standard input, behind a flag of its own, or only into the JSON of `stdin: json`. */
export type Injection = 'argument' | 'stdin' | 'option' | 'json'

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** The types of JSON Schema. */
export type JsonSchemaType = ParameterType | 'null'

/**
 * JSON Schema. `type`, `properties`, `required`, `items`, `enum`, `pattern`, `minimum` and `maximum` are checked;
 * other words go to the model and are not. A list of types means any of them.
 */
export type JsonSchemaProperty = {
  type?: JsonSchemaType | JsonSchemaType[]
  description?: string
  properties?: Record<string, JsonSchemaProperty>
  required?: string[]
  items?: JsonSchemaProperty
  enum?: JsonValue[]
  pattern?: string
  minimum?: number
  maximum?: number
  default?: JsonValue
  [word: string]: unknown
}

/** A parameter with every default written out. A type alias, not an interface: it is an entry of a `ToolDefinition` as well. */
export type ExpandedParameter = {
  name: string
  type: ParameterType
  inject_as: Injection
  /** 0-based order among the arguments. Absent for stdin and JSON, and where a hand-written `command:` leaves it out. */
  position?: number
  /** The flag in front of the value; with `inject_as: option` only. */
  option_name?: string
  description?: string
  required: boolean
  /** The value when a call gives none. */
  default?: unknown
  enum?: (string | number)[]
  /** A regular expression the whole value must match. */
  pattern?: string
  minimum?: number
  maximum?: number
  /** The schema of each value of an array. */
  items?: JsonSchemaProperty
  /** The schemas of the properties of an object, and the names of those that must be there. */
  properties?: Record<string, JsonSchemaProperty>
  required_properties?: string[]
  /** False: a value that begins with `-` is refused. True: it passes. Absent: see `checked_words`. */
  allow_dash?: boolean
  /** The author's own. */
  metadata?: unknown
}

/**
 * A tool with nothing left implicit: what `delta tool expand` prints. Loading it again gives the same tool.
 *
 * Without `substitute`, parameters are appended to `command` by position and only the engine's variables in it
 * are replaced. With it, `${name}` in an element of `command` is the place of that value, `\${` a literal `${`.
 */
export interface ExpandedTool {
  name: string
  description?: string
  /** The argument vector. Of a script, `sh -c` and what it stands for. */
  command: string[]
  parameters: ExpandedParameter[]
  substitute?: true
  /** The standard input is one JSON object with all values, in the order of `parameters`; optional ones may be absent. */
  stdin?: 'json'
  /** With `stdin: json`, what the arguments are. `parameters` then holds only those that stand in the command, too. */
  input_schema?: JsonSchemaProperty & { type: 'object' }
  /** True: values of all parameters may begin with `-`. */
  allow_dash?: boolean
  /** Words of a shell script that begin with a value and go on: refused when they come out with a leading `-`. */
  checked_words?: string[]
  /** The author's own syntax. Kept for people and for `lintTool`; nothing else reads it. */
  __meta?: ToolOrigin
}

/** What the author of an expanded tool wrote. */
export interface ToolOrigin {
  syntax: 'exec' | 'shell'
  /** The text of `exec:` or `shell:`. */
  template: string
  /** The parameter whose value is the standard input. */
  stdin?: string
}

/** Paths by the name of the variable. */
export type Variables = { readonly [Name in EngineVariable]?: string | undefined }

/** What a call needs to know besides its arguments. */
export interface BindOptions {
  /** Absolute paths that `${AGENT_HOME}`, `${CWD}` and `${TOOL_HOME}` stand for. A tool whose command has none of them needs none. */
  variables?: Variables | undefined
  /** How patterns are matched. Absent: as they are, however long that takes. */
  matches?: Matches | undefined
}

/**
 * Whether the expression is found in the text. A string says why that is not known, and the call is refused with it: `"name" …`,
 * the rest of a sentence.
 */
export type Matches = (expression: RegExp, text: string) => boolean | string

/**
 * A tool as its author wrote it, with one of `exec`, `shell` and `command`. `parseTool` returns one; an `ExpandedTool` is one, too.
 *
 * Written here and not inferred from the schema, so that editors show what each key means.
 */
export type ToolDefinition = {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** What the model reads about the tool. */
  readonly description?: string | undefined
  /** A command without a shell: `rg -- ${pattern} ${file}`. Each `${name}` is a parameter. */
  readonly exec?: string | undefined
  /** A script for `sh -c`. A value of `${name}` stays one argument, that of `${name:raw}` becomes words. */
  readonly shell?: string | undefined
  /** The full form: the argument vector, to which parameters are appended by `position`. */
  readonly command?: readonly string[] | undefined
  /** The parameter whose value is the standard input; `json` for all arguments as one JSON object. */
  readonly stdin?: string | undefined
  /** With `stdin: json`, JSON Schema of the arguments, which goes to the model as it is. Instead of `parameters`. */
  readonly input_schema?: WrittenSchema | undefined
  /** Says more about parameters; with `command`, which there are. */
  readonly parameters?: readonly ParameterDefinition[] | undefined
  /** True: values of all parameters may begin with `-`. */
  readonly allow_dash?: boolean | undefined
  /** True: `${name}` in an element of `command` is the place of that value. Default false. */
  readonly substitute?: boolean | undefined
  /** See `ExpandedTool`. Only an expanded script has it. */
  readonly checked_words?: readonly string[] | undefined
  /** What the author of an expanded tool wrote. */
  readonly __meta?:
    | {
        readonly syntax: ToolOrigin['syntax']
        readonly template: string
        readonly stdin?: string | undefined
      }
    | undefined
}

/** JSON Schema as its author wrote it. */
type WrittenSchema = { readonly [word: string]: unknown }

/** An entry of `parameters:`, as written. At run time, keys we do not know stay on it. */
export type ParameterDefinition = {
  /** Letters, digits and `_`, no digit first. */
  readonly name: string
  /** Default `string`. */
  readonly type?: ParameterType | undefined
  /** Default `argument`. With `exec` and `shell` the template says where, and this may only agree; so it is with `position`, and `raw`. */
  readonly inject_as?: Injection | undefined
  /** 0-based order among the arguments. */
  readonly position?: number | undefined
  /** The flag in front of the value, with `inject_as: option`. */
  readonly option_name?: string | undefined
  /** What the model reads about the parameter. */
  readonly description?: string | undefined
  /** Default true; false for a parameter with a `default`. Of an object also a list: the properties that must be there. */
  readonly required?: boolean | readonly string[] | undefined
  /** The value when a call gives none. */
  readonly default?: unknown
  /** The only values there may be. */
  readonly enum?: readonly (string | number)[] | undefined
  /** A JavaScript regular expression that the whole value must match. */
  readonly pattern?: string | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  /** The JSON Schema of each value of an array. Default: a string. */
  readonly items?: WrittenSchema | undefined
  /** The JSON Schemas of the properties of an object. */
  readonly properties?: WrittenSchema | undefined
  /** The list that `required` may be, where the object itself is optional. */
  readonly required_properties?: readonly string[] | undefined
  /** True: a value may begin with `-`. Default: what the tool says, else false; true with `command` and with an `enum`. */
  readonly allow_dash?: boolean | undefined
  /** That it stands as `${name:raw}` in the script. */
  readonly raw?: boolean | undefined
  /** The author's own: kept as it is, and not sent to the model. */
  readonly metadata?: unknown
}
