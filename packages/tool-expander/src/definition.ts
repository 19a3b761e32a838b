import type { Injection, ParameterType, ToolOrigin } from './tool.js'

/**
 * A tool as its author wrote it, with one of `exec`, `shell` and `command`. What `parseTool` accepted; an `ExpandedTool` is one, too.
 *
 * Written here and not inferred from the schema, so that editors show what each key means.
 */
export type ToolDefinition = {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** What the model is told of the tool. */
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
  /** Of an expanded script; see `ExpandedTool`. */
  readonly checked_words?: readonly string[] | undefined
  /** Of an expanded tool: what its author wrote. */
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
  /** What the model is told of the parameter. */
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
  /** Of an array: what each of its values is, as JSON Schema. Default: a string. */
  readonly items?: WrittenSchema | undefined
  /** Of an object: its properties, each as JSON Schema. */
  readonly properties?: WrittenSchema | undefined
  /** The list that `required` may be, where the object itself is optional. */
  readonly required_properties?: readonly string[] | undefined
  /** True: a value may begin with `-`. Default: what the tool says, else false; true with `command` and with an `enum`. */
  readonly allow_dash?: boolean | undefined
  /** That it stands as `${name:raw}` in the script. */
  readonly raw?: boolean | undefined
}
