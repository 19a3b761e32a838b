/** How `delta` is told of a workspace, and of where its runs are kept if that is outside it. */
export function placeArguments(place: {
  workDirectory: string
  runsDirectory?: string | undefined
}): string[] {
  const { workDirectory, runsDirectory } = place
  return ['-w', workDirectory, ...(runsDirectory === undefined ? [] : ['--runs-dir', runsDirectory])]
}
