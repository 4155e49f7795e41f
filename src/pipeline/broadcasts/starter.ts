/**
 * What the dashboard puts into a new broadcast, to be written over. Pure: the dashboard bundles this file.
 */

export const STARTER_HTML =
  '<p>Hello {{first_name|there}},</p>\n<p>…</p>\n<p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>\n'

/** Whether the HTML of a broadcast still is the starter text, whatever its white space. */
export function isStarter(html: string | null): boolean {
  // a long text need not be looked through
  if (html === null || html.length > 2 * STARTER_HTML.length) return false
  return withoutSpace(html) === withoutSpace(STARTER_HTML)
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '')
}
