/**
 * Links in previews and tests of a broadcast, in place of those that each recipient has. Pure: the dashboard
 * bundles this file.
 */

/** They have the form of real ones, which the text part shows, and lead to a page that knows no recipient. */
export function inertLinks(baseUrl: string): { unsubscribe: string; view: string } {
  return { unsubscribe: `${baseUrl}/u/preview`, view: `${baseUrl}/v/preview` }
}
