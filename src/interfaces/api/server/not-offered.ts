/**
 * Resources that the SDKs have methods for and Mailhorn does not have. Their paths are answered 404 with the
 * reason instead of "Unknown path", for every method.
 */

/** What is missing, by the first segment of the path. */
const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  [
    'events',
    'Mailhorn does not have custom events yet. The events of this account are at `/activity`, and live at `/activity/stream`.',
  ],
  ['automations', 'Mailhorn does not have automations yet.'],
  ['inboxes', 'Mailhorn does not have inboxes with threads and drafts. Received mail is at `/inbound`.'],
  ['oauth', 'Mailhorn does not have OAuth grants.'],
  ['oauth-grants', 'Mailhorn does not have OAuth grants.'],
])

/** @returns the message for a path of a resource that Mailhorn does not have; undefined for any other path */
export function notOfferedMessage(path: string): string | undefined {
  return NOT_OFFERED.get(path.split('/', 2)[1]!)
}
