/**
 * Writes control characters as `\x1b`, so that no text of a command can steer a terminal it is
 * shown on. Tabs and line ends stay, a lone carriage return does not.
 */
export function showControls(text: string): string {
  return text.replaceAll(
    /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/g,
    (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}
