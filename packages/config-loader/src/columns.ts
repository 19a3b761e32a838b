/** Columns that a line takes on a terminal: two for what is wide, none for a mark on its own. */
export function columnsOf(line: string): number {
  if (/^[ -~]*$/.test(line)) return line.length
  const wide =
    /^[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3ffff}\p{Emoji_Presentation}]|\ufe0f/u
  const unseen = /^[\p{Mn}\p{Me}\p{Cf}]/u
  let columns = 0
  for (const { segment } of new Intl.Segmenter().segment(line))
    columns += wide.test(segment) ? 2 : unseen.test(segment) ? 0 : 1
  return columns
}
