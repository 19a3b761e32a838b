/** A changelog for the person upgrading: what the changesets say, and with which of our packages a version works. */
module.exports = {
  getReleaseLine: async ({ summary }) =>
    `- ${summary.trim().replaceAll('\n', '\n  ').replaceAll(/^ +$/gm, '')}`,

  getDependencyReleaseLine: async (_changesets, dependencies) => {
    const versions = dependencies.map(({ name, newVersion }) => `\`${name}\` ${newVersion}`)
    return versions.length > 0 ? `- Works with ${versions.join(', ')}.` : ''
  },
}
