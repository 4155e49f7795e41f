/** Hostile input for mail ports: forms and sequences that the tests of all listeners share. */

/** Sequences that some mail servers mistake for the end of a message. */
export const FALSE_ENDS: readonly (readonly [what: string, bytes: string])[] = [
  ['LF . LF', '\n.\n'],
  ['LF . CR LF', '\n.\r\n'],
  ['CR LF . LF', '\r\n.\n'],
  ['CR . CR', '\r.\r'],
  ['CR . CR LF', '\r.\r\n'],
  ['CR LF . CR', '\r\n.\r'],
  ['LF .. LF', '\n..\n'],
  ['LF CR . LF CR', '\n\r.\n\r'],
  ['CR CR LF . CR CR LF', '\r\r\n.\r\r\n'],
]

/**
 * Forms of a recipient elsewhere, at a server for `here`, as open relays have taken them: those of the
 * classical relay tests, with routes, percent signs, bangs, quotes, literals and domains that only look like
 * ours.
 */
export function relayForms(here: string, there: string): string[] {
  const [user, host] = [`victim`, `mail.${here}`]
  return [
    `<${user}@${there}>`,
    `${user}@${there}`,
    `<@${here}:${user}@${there}>`,
    `<@${here},@${there}:${user}@${there}>`,
    `<@${host}:${user}@${there}>`,
    `<@[127.0.0.1]:${user}@${there}>`,
    `<${user}@[127.0.0.1]>`,
    `<${user}@[IPv6:::1]>`,
    `<${user}@localhost>`,
    `<${user}>`,
    `<${there}!${user}>`,
    `<${there}!${user}@${there}>`,
    `<${here}!${there}!${user}>`,
    `<${user}%${there}>`,
    `<${user}%${there}@>`,
    `<"${user}@${there}">`,
    `<"${user}%${there}">`,
    `<${user}@${there}@${here}>`,
    `<${user}@${here}@${there}>`,
    `<${user}@${here}.${there}>`,
    `<${user}@${there}.>`,
    `<${user}@x${here}>`,
    `<${user}@sub.${here}>`,
    `<${user}@${here}\0.${there}>`,
    `<${user}@${here} ${user}@${there}>`,
    `<${user}@${there}> NOTIFY=NEVER`,
    `<>`,
    `<@>`,
    `<${'a'.repeat(300)}@${there}>`,
  ]
}

/** They keep their local part, whatever it looks like, at a domain that is ours. */
export function localForms(here: string, there: string): string[] {
  return [
    `<victim%${there}@${here}>`,
    `<"victim@${there}"@${here}>`,
    `<${there}!victim@${here}>`,
    `<victim@${here}> <victim@${there}>`,
  ]
}
