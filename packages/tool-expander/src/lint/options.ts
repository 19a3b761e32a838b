/** What `lintTool` may know besides the tool. */
export interface LintOptions {
  /** Whether a program exists; its name may begin with `${AGENT_HOME}`. Without it, programs are not looked for. */
  commandExists?: ((program: string) => boolean) | undefined
  /** The environment the tool will run in; only its names matter. */
  environment?: Readonly<Record<string, string | undefined>> | undefined
}
