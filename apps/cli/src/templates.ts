/** The agents that `delta init` can make; each is a directory of `templates/`. */
export const TEMPLATE_NAMES = ['minimal', 'hello-world'] as const
