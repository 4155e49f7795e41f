/** The starter text that the dashboard puts into a new broadcast. Pure: the dashboard bundles this file. */

export const STARTER_HTML =
  '<p>Hello {{first_name|there}},</p>\n<p>…</p>\n<p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>\n'

/** Whether the HTML is still the starter text, regardless of white space. */
export function isStarter(html: string | null): boolean {
  // a long text cannot be the starter text
  if (html === null || html.length > 2 * STARTER_HTML.length) return false
  return withoutSpace(html) === withoutSpace(STARTER_HTML)
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '')
}
