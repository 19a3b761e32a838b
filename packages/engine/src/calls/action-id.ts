/** Kimi's ids are `functions.<name>:<count>`. Given other ids, it stops writing calls that its server can parse. */
const SAFE_ID = /^(?!\.)[A-Za-z0-9_.:-]{1,64}$/

/**
 * The id under which a call is journaled: the model's own if it is unused in this run and safe as a
 * name, otherwise `<iteration>-<index>`. Some servers restart their ids with every turn.
 */
export function actionIdFor(
  id: string,
  { iteration, index, used }: { iteration: number; index: number; used: Set<string> },
): string {
  let chosen = SAFE_ID.test(id) && !used.has(id) ? id : `${iteration}-${index}`
  while (used.has(chosen)) chosen += '-'
  used.add(chosen)
  return chosen
}
