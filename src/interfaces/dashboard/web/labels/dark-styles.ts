/** Shows a message as in the dark mode of a mail program, whatever the mode of the browser is. */

const DARK = /\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi
const LIGHT = /\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi
const ALWAYS = '(min-width:0px)'
const NEVER = '(max-width:0px)'

/** Whether the message has styles of its own for dark mode. */
export function hasDarkStyles(html: string): boolean {
  return html.search(DARK) >= 0
}

/** Returns the message with its dark styles in force. */
export function inDarkMode(html: string): string {
  return html.replaceAll(DARK, ALWAYS).replaceAll(LIGHT, NEVER)
}
