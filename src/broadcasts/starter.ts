/** What the dashboard puts into a new broadcast, to be written over. Pure: the dashboard bundles this file. */

export const STARTER_HTML =
  '<p>Hello {{first_name|there}},</p>\n<p>…</p>\n<p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>\n'
export const STARTER_TEXT = 'Hello {{first_name|there}},\n\n…\n\nUnsubscribe: {{unsubscribe_url}}\n'

/** Which part of a broadcast still is the starter text, whatever its white space; undefined where none is. */
export function untouchedPart({
  html,
  text,
}: {
  html: string | null
  text: string | null
}): 'html' | 'text' | undefined {
  if (html !== null && same(html, STARTER_HTML)) return 'html'
  return text !== null && same(text, STARTER_TEXT) ? 'text' : undefined
}

function same(text: string, starter: string): boolean {
  // a long text need not be looked through
  return text.length < 2 * starter.length && withoutSpace(text) === withoutSpace(starter)
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '')
}
